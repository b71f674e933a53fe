// The bundled Qwen3-ASR model, which understands what it hears: streams that settle, prompts, stop reasons, silence.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/speech.hpp"

namespace steno_demo_qwen3_test {

using nlohmann::json;

class steno_demo_qwen3 : public testing::Test {
 protected:
  // Events of `stream`, or the one result of `transcribe`.
  std::vector<json> run(const std::string& verb, const std::vector<float>& pcm, const std::string& options = "") const {
    std::vector<std::int16_t> samples;
    for (const float x : pcm) samples.push_back(static_cast<std::int16_t>(std::lrint(x * 32767)));
    std::ofstream(dir.path() / "pcm.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * 2));
    std::string command = "'" STENO_PROGRAM "' ";
    command.append(verb).append(" -q --demo qwen3-asr ").append(options).append(" - < pcm.raw");
    const auto o = steno::test::shell(dir, command);
    EXPECT_EQ(o.code, 0) << o.err;
    std::vector<json> all;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
  }
  std::vector<json> stream(const std::vector<float>& pcm, const std::string& options = "") const {
    return run("stream", pcm, "--own-stream --format jsonl " + options);
  }
  json transcribe(const std::vector<float>& pcm, const std::string& options = "") const {
    const std::vector<json> all = run("transcribe", pcm, "--format json --threads 2 " + options);
    return all.empty() ? json() : all[0];
  }
  steno::test::temporary_directory dir;
};

const std::string question = "where did thomas leave the blue table",
                  train = "the train to paris leaves in seven minutes",
                  shopping = "remind me to buy bread and apples thursday";

// Why each step stopped, and that no event takes back what an earlier one told as settled: what was said.
std::string settled_text(const std::vector<json>& events, int& utterances) {
  std::string stable, said;
  utterances = 0;
  for (const json& e : events) {
    const std::string text = e.at("text"), stop = e.at("stop");
    EXPECT_TRUE(stop == "end_of_text" || stop == "repetition") << e;
    EXPECT_TRUE(text.starts_with(stable)) << stable << " -> " << e;
    const bool final = e.at("type") == "final";
    stable = final ? "" : e.at("stable").get<std::string>();
    if (!final) continue;
    said.append(said.empty() || text.empty() ? "" : " ").append(text);
    ++utterances;
  }
  return said;
}

TEST_F(steno_demo_qwen3, a_stream_hears_turn_after_turn) {
  constexpr double pauses[] = {0.5, 1};
  const steno::test::conversation talk = steno::test::joined_utterances(2, pauses);
  int utterances = 0;
  EXPECT_EQ(settled_text(stream(talk.pcm), utterances), question + " " + shopping);
  EXPECT_EQ(utterances, 1);
}

// A minute and a half, so that an utterance is settled at a quiet place.
TEST_F(steno_demo_qwen3, a_long_stream_never_takes_back_what_is_settled) {
  constexpr double pauses[] = {1, 2, 1.5};
  const steno::test::conversation talk = steno::test::joined_utterances(20, pauses);
  int utterances = 0;
  std::string said;
  for (int i = 0; i < 20; ++i)
    said.append(said.empty() ? "" : " ").append(i % 3 == 0 ? question : i % 3 == 1 ? shopping : train);
  // Nothing is lost and nothing said twice where an utterance is cut.
  EXPECT_EQ(settled_text(stream(talk.pcm), utterances), said);
  EXPECT_GE(utterances, 8);  // of at most 10 s, which is what its file says that it understands
  settled_text(stream(talk.pcm, "--max-utterance-seconds 60"), utterances);
  EXPECT_EQ(utterances, 2);
}

// Longer recordings are cut in rests, and little is lost; who wants longer clips gets them.
TEST_F(steno_demo_qwen3, hears_no_more_at_once_than_it_understands) {
  constexpr double pauses[] = {1, 2, 1.5};
  const steno::test::conversation talk = steno::test::joined_utterances(20, pauses);
  const auto longest = [](const json& r) {
    double most = 0;
    for (const json& s : r["segments"]) most = std::max(most, s["end"].get<double>() - s["start"].get<double>());
    return most;
  };
  const json r = transcribe(talk.pcm);
  EXPECT_LE(longest(r), 10);
  EXPECT_GT(longest(transcribe(talk.pcm, "--max-clip-seconds 30")), 12);
  std::string text = r["text"];
  std::size_t whole = 0;
  for (const std::string& sentence : {question, train, shopping})
    for (std::size_t at = 0; (at = text.find(sentence, at)) != std::string::npos; at += sentence.size()) ++whole;
  EXPECT_GE(whole, 18u) << text;
}

TEST_F(steno_demo_qwen3, a_language_and_words_to_expect_can_be_given) {
  const std::vector<float> pcm = steno::test::example_utterance("train").pcm;
  EXPECT_EQ(transcribe(pcm, "--language en")["text"], train);
  EXPECT_EQ(transcribe(pcm, "--prompt 'paris, kitchen, seven'")["text"], train);
  EXPECT_EQ(transcribe(pcm, "--prompt 'madrid, basement, vienna, umbrella'")["text"], train);
  EXPECT_EQ(transcribe(pcm)["language"], "English");
  std::ofstream(dir.path() / "words.txt") << "paris\nkitchen\n";
  EXPECT_EQ(transcribe(pcm, "--hotwords words.txt")["text"], train);  // they become part of the prompt
}

TEST_F(steno_demo_qwen3, says_that_there_is_no_speech) {
  std::vector<float> tone(16000 * 8);
  for (std::size_t i = 0; i < tone.size(); ++i)
    tone[i] = 0.1f * static_cast<float>(std::sin(0.3 * static_cast<double>(i)));
  for (const std::vector<float>& pcm : {std::vector<float>(16000 * 30), steno::test::noise(30, -40), tone}) {
    const json r = transcribe(pcm);
    EXPECT_EQ(r["text"], "");
    for (const json& s : r["segments"]) {
      EXPECT_EQ(s["extra"]["raw_text"], "language None<asr_text>");
      EXPECT_EQ(s["extra"]["stop"], "end_of_text");
    }
  }
}

}  // namespace steno_demo_qwen3_test
