// Every option that not every model honours, over every bundled model: it is honoured, or refused by its name. What is
// honoured is what `steno info` says.
// SPDX-License-Identifier: Apache-2.0
#include "programs/run_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace steno_options_test {

using nlohmann::json;
using steno::test::outcome;

const std::string examples = STENO_SOURCE_DIR "/examples/";
const char* const models[] = {"demo",         "fun-asr-nano", "paraformer",   "paraformer-online",
                              "parakeet-ctc", "parakeet-eou", "parakeet-tdt", "qwen3-asr",
                              "u2",           "whisper"};

// With their values; that of --language is the model's.
const std::pair<const char*, const char*> offline[] = {{"--language", ""},
                                                       {"--target-language", "fr"},
                                                       {"--no-punctuation", ""},
                                                       {"--itn", ""},
                                                       {"--look-ahead", "4"},
                                                       {"--beam", "2"},
                                                       {"--hotwords", "words.txt"},
                                                       {"--hotword-score", "1 --hotwords words.txt"},
                                                       {"--lm", "lm.arpa"},
                                                       {"--lm-weight", "0.2 --lm lm.arpa"},
                                                       {"--max-clip-seconds", "20"},
                                                       {"--parallel-clips", "2"},
                                                       {"--translate", ""},
                                                       {"--temperature", "0"},
                                                       {"--best-of", "2"},
                                                       {"--patience", "1"},
                                                       {"--length-penalty", "0.5"},
                                                       {"--suppress-tokens", "-1"},
                                                       {"--initial-prompt", "train"},
                                                       {"--carry-initial-prompt", ""},
                                                       {"--condition-on-previous-text", ""},
                                                       {"--compression-ratio-threshold", "2"},
                                                       {"--logprob-threshold", "-1"},
                                                       {"--no-speech-threshold", "0.5"},
                                                       {"--without-timestamps", ""},
                                                       {"--max-initial-timestamp", "1"},
                                                       {"--word-timestamps", ""},
                                                       {"--clip-timestamps", "0,1"},
                                                       {"--seed", "1"},
                                                       {"--top-k", "2"},
                                                       {"--top-p", "0.5"},
                                                       {"--max-new-tokens", "50"},
                                                       {"--max-repeats", "2"},
                                                       {"--kv-cache", "f32"}};
const std::pair<const char*, const char*> live[] = {{"--chunk-size", "8"},
                                                    {"--left-chunks", "4"},
                                                    {"--no-rescore", ""},
                                                    {"--look-ahead", "4"},
                                                    {"--left-context", "40"},
                                                    {"--language", "en"},
                                                    {"--partial-seconds", "1"},
                                                    {"--no-endpoints", ""},
                                                    {"--forget-turns", ""},
                                                    {"--max-utterance-seconds", "20"},
                                                    {"--beam", "4"},
                                                    {"--hotwords", "words.txt"},
                                                    {"--hotword-score", "1 --hotwords words.txt"},
                                                    {"--lm", "lm.arpa"},
                                                    {"--lm-weight", "0.2 --lm lm.arpa"}};

class options_of : public testing::TestWithParam<const char*> {
 protected:
  options_of() {
    std::ofstream(dir_.path() / "words.txt") << "train\n";
    std::ofstream(dir_.path() / "lm.arpa") << "\\data\\\nngram 1=4\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n-2\t<unk>\n"
                                              "-1\ttrain\n\n\\end\\\n";
    facts_ = json::parse(run("info -m " + model() + " --format json").out);
  }
  static std::string model() { return "'" + examples + "models/" + GetParam() + ".gguf'"; }
  outcome run(const std::string& words) const {
    return steno::test::shell(dir_, std::string("'") + STENO_PROGRAM + "' " + words);
  }
  void check(const char* verb, const char* key, const std::string& option, const std::string& value) const {
    const auto& known = facts_.at(key);
    const bool honoured = std::any_of(known.begin(), known.end(), [&](const json& one) {
      const std::string text = one;  // "--max-clip-seconds (with --vad)" says that it is not, alone
      return text == option;
    });
    std::string words = std::string(verb) + " -m " + model() + " " + option + " " + value + " '" + examples;
    const outcome o = run(words.append("audio/train.wav'"));
    if (honoured) {
      EXPECT_EQ(o.code, 0) << GetParam() << ' ' << option << '\n' << o.err;
      return;
    }
    EXPECT_EQ(o.code, 2) << GetParam() << ' ' << option << '\n' << o.err;
    EXPECT_EQ(o.out, "");
    // A bonus comes with hotwords, which are refused first.
    EXPECT_NE(o.err.find(option.substr(0, option == "--hotword-score" ? 9
                                          : option == "--lm-weight"   ? 4
                                                                      : option.size())),
              std::string::npos)
        << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }

  steno::test::temporary_directory dir_;
  json facts_;
};

TEST_P(options_of, transcribe_are_honoured_or_refused) {
  std::string language = "de";
  for (const std::string known : facts_.at("languages"))
    if (known != "auto") language = known;
  for (const auto& [option, value] : offline)
    check("transcribe", "options", option, std::string(option) == "--language" ? "'" + language + "'" : value);
}

TEST_P(options_of, stream_are_honoured_or_refused) {
  for (const auto& [option, value] : live) check("stream", "live_options", option, value);
}

INSTANTIATE_TEST_SUITE_P(steno, options_of, testing::ValuesIn(models), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// What would do nothing without another option is refused with advice.
TEST(steno_options, that_do_nothing_alone) {
  const steno::test::temporary_directory dir;
  std::ofstream(dir.path() / "words.txt") << "train\n";
  const std::pair<const char*, const char*> table[] = {{"--merge-seconds 3", "--vad"},
                                                       {"--hotword-score 2", "--hotwords"},
                                                       {"--lm-weight 2", "--lm"},
                                                       {"--highlight-words", "srt and vtt"},
                                                       {"--format srt --highlight-words", "--style openai"},
                                                       {"--format vtt --max-words-per-line 3", "--style openai"},
                                                       {"stream --vad energy", "jsonl"}};
  for (const auto& [words, advice] : table) {
    const bool stream = std::string(words).starts_with("stream");
    const auto o = steno::test::shell(dir, std::string("'") + STENO_PROGRAM + "' " + words + " --demo " +
                                               (stream ? "u2" : "parakeet-ctc") + " '" + examples + "audio/train.wav'");
    EXPECT_EQ(o.code, 2) << words;
    EXPECT_EQ(o.out, "") << words;
    EXPECT_NE(o.err.find(advice), std::string::npos) << o.err;
  }
}

}  // namespace steno_options_test
