// steno without -m and with --demo: the bundled demonstration models on the bundled recordings.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "programs/run_program.hpp"

namespace steno_demo_test {

const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";

TEST(steno_demo, transcribes_the_bundled_recordings) {
  ASSERT_TRUE(std::filesystem::exists(examples / "models" / "demo.gguf"));
  const nlohmann::json samples = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
  ASSERT_FALSE(samples.empty());
  const steno::test::temporary_directory dir;
  const auto o = steno::test::shell(dir, "env -u STENO_DEMO_MODEL '" STENO_PROGRAM "' -q --threads 2 -o out/ '" +
                                             (examples / "audio").string() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
  for (const nlohmann::json& sample : samples) {
    const auto name = std::filesystem::path(sample["file"].get<std::string>()).replace_extension(".txt");
    std::ostringstream text;
    text << std::ifstream(dir.path() / "out" / name).rdbuf();
    EXPECT_EQ(text.str(), sample["text"].get<std::string>() + "\n") << name;
  }
}

struct demo_family {
  const char* name;
  double seconds;  // how far a word's start may be from the samples'; 0: such a model tells words when they are over
  bool times = true;
  const char* timed = "";  // asks for the times of words
  bool words = false;      // has words without times
  bool hotwords = true;
  friend void PrintTo(const demo_family& f, std::ostream* out) { *out << f.name; }
};

// The models are part of the project: one that is missing is a failure.
class steno_demo_family : public testing::TestWithParam<demo_family> {
 protected:
  void SetUp() override {
    std::string file = GetParam().name;
    if (file == "sense-voice") file = "demo";
    ASSERT_TRUE(std::filesystem::exists(examples / "models" / file.append(".gguf"))) << file;
  }
  steno::test::outcome steno(const std::string& verb, const std::string& arguments) const {
    std::string command = "'" STENO_PROGRAM "' ";
    command.append(verb).append(" -q --demo ").append(GetParam().name).append(" ").append(arguments);
    return steno::test::shell(dir_, command);
  }
  static nlohmann::json samples() { return nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json")); }
  const steno::test::temporary_directory dir_;
};

TEST_P(steno_demo_family, transcribes_the_bundled_recordings_with_the_times_of_their_words) {
  std::string sentences = (examples / "audio").string();
  const auto o =
      steno("transcribe",
            sentences.insert(0, 1, '\'').append("'/*.wav --threads 2 --format json -o out/ ").append(GetParam().timed));
  ASSERT_EQ(o.code, 0) << o.err;
  for (const nlohmann::json& sample : samples()) {
    const auto name = std::filesystem::path(sample["file"].get<std::string>()).replace_extension(".json");
    const nlohmann::json said = nlohmann::json::parse(std::ifstream(dir_.path() / "out" / name));
    EXPECT_EQ(said["text"].get<std::string>(), sample["text"].get<std::string>()) << name;
    if (!GetParam().times) {
      for (const nlohmann::json& s : said["segments"]) {
        EXPECT_EQ(s["words"].empty(), !GetParam().words) << name;
        for (const nlohmann::json& w : s["words"]) EXPECT_EQ(w["timing"], "none") << name;
      }
      continue;
    }
    std::vector<double> starts;
    for (const nlohmann::json& s : said["segments"])
      for (const nlohmann::json& w : s["words"]) starts.push_back(w["start"]);
    EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << name;
    ASSERT_EQ(starts.size(), sample["starts"].size()) << name;
    if (GetParam().seconds == 0) continue;
    std::ptrdiff_t near = 0;
    for (std::size_t i = 0; i < starts.size(); ++i)
      near += std::abs(starts[i] - sample["starts"][i].get<double>()) <= GetParam().seconds ? 1 : 0;
    EXPECT_GE(near + 1, static_cast<std::ptrdiff_t>(starts.size())) << name << ": " << said.dump();
  }
}

TEST_P(steno_demo_family, says_nothing_where_nothing_is_said) {
  // Five seconds of silence, and of the noise that a linear congruential generator makes, 40 dB below full scale.
  std::ofstream silence(dir_.path() / "silence.pcm", std::ios::binary),
      noise(dir_.path() / "noise.pcm", std::ios::binary);
  std::uint32_t state = 1;
  for (int i = 0; i < 80000; ++i) {
    state = state * 1664525u + 1013904223u;
    const int value = static_cast<int>(state >> 16) % 656 - 328;
    silence.write("\0\0", 2);
    noise.put(static_cast<char>(value & 255)).put(static_cast<char>((value >> 8) & 255));
  }
  silence.close();
  noise.close();
  for (const char* file : {"silence.pcm", "noise.pcm"}) {
    const auto o = steno("transcribe", std::string("--pcm-format s16le - <").append(file));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out.find_first_not_of(" \n"), std::string::npos) << file << ": " << o.out;
  }
}

TEST_P(steno_demo_family, streams_the_bundled_recordings) {
  for (const nlohmann::json& sample : samples()) {
    std::string file = (examples / "audio" / sample["file"].get<std::string>()).string();
    const auto o = steno("stream", file.insert(0, 1, '\'').append("'"));
    ASSERT_EQ(o.code, 0) << o.err;
    std::string text = o.out;
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (text.ends_with(' ')) text.pop_back();
    EXPECT_EQ(text, sample["text"].get<std::string>());
  }
}

TEST_P(steno_demo_family, a_list_of_hotwords_that_nobody_says_changes_nothing) {
  if (!GetParam().hotwords) return;  // refused: steno_options_test.cpp
  std::ofstream(dir_.path() / "words.txt") << "madrid\nbasement\nvienna\numbrella\n";
  for (const nlohmann::json& sample : samples()) {
    std::string file = (examples / "audio" / sample["file"].get<std::string>()).string();
    const auto o = steno("transcribe", file.insert(0, 1, '\'').append("' --threads 2 --hotwords words.txt"));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out.substr(0, o.out.find('\n')), sample["text"].get<std::string>());
  }
}

// 121 ms: the cards promise 120 for nine words of ten, and times are printed in milliseconds.
INSTANTIATE_TEST_SUITE_P(all, steno_demo_family,
                         testing::Values(demo_family{"sense-voice", 0.121}, demo_family{"parakeet-ctc", 0.121},
                                         demo_family{"parakeet-tdt", 0.121}, demo_family{"parakeet-eou", 0},
                                         demo_family{"paraformer", 0.121}, demo_family{"u2", 0.121},
                                         demo_family{"paraformer-online", 0, false, "", true},
                                         demo_family{"qwen3-asr", 0, false}, demo_family{"fun-asr-nano", 0.121},
                                         demo_family{"whisper", 0.121, true, "--word-timestamps"}),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// With a bonus that nothing withstands, as a whole and in the clips of a detector; a search of its own accord.
TEST(steno_demo, whisper_favours_hotwords_and_needs_a_search_for_them) {
  const steno::test::temporary_directory dir;
  std::ofstream(dir.path() / "words.txt") << "vienna\n";
  std::string command = "'" STENO_PROGRAM "' -q --demo whisper --threads 2 --hotwords words.txt '";
  command.append((examples / "audio/train.wav").string()).append("' ");
  for (const char* vad : {"none", "energy"}) {
    const auto o = steno::test::shell(dir, command + "--hotword-score 30 --vad " + vad);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("vienna"), std::string::npos) << vad << ": " << o.out;
  }
  const auto refused = steno::test::shell(dir, command + "--beam 1");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--hotwords need a search"), std::string::npos) << refused.err;
}

TEST(steno_demo, a_stream_takes_back_nothing_that_is_settled) {
  const nlohmann::json samples = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
  for (const nlohmann::json& sample : samples) {
    const steno::test::temporary_directory dir;
    std::string command = "'" STENO_PROGRAM "' stream -q --demo u2 --chunk-size 4 --format jsonl '";
    command.append((examples / "audio" / sample["file"].get<std::string>()).string()).append("'");
    const auto o = steno::test::shell(dir, command);
    ASSERT_EQ(o.code, 0) << o.err;
    std::istringstream lines(o.out);
    std::string settled, text;
    double first = -1;
    int grown = 0;
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json event = nlohmann::json::parse(line);
      if (event["type"] != "partial" && event["type"] != "final") continue;
      text = event["text"];
      EXPECT_TRUE(text.starts_with(settled)) << settled << " / " << text;
      if (!text.empty() && first < 0) first = event["heard"];
      if (event["type"] != "partial") continue;
      const std::string now = event["stable"];
      EXPECT_TRUE(now.starts_with(settled)) << settled << " / " << now;
      grown += now.size() > settled.size() ? 1 : 0;
      settled = now;
    }
    EXPECT_EQ(text, sample["text"].get<std::string>());
    EXPECT_GE(grown, 1) << sample["file"];
    EXPECT_LE(first, sample["starts"][1].get<double>() + 0.6);  // 600 ms after the first word
  }
}

// What Whisper alone is asked.
class steno_demo_whisper : public testing::Test {
 protected:
  nlohmann::json hear(const std::string& options, const std::string& file = "train.wav") const {
    const auto o = steno::test::shell(dir_, std::string("'" STENO_PROGRAM "' -q --demo whisper --format json ")
                                                .append(options)
                                                .append(" '")
                                                .append((examples / "audio" / file).string())
                                                .append("'"));
    EXPECT_EQ(o.code, 0) << o.err;
    return nlohmann::json::parse(o.code == 0 ? o.out : "{}");
  }
  const steno::test::temporary_directory dir_;
};

TEST_F(steno_demo_whisper, tells_what_became_of_windows) {
  const nlohmann::json r = hear("");
  ASSERT_EQ(r["extra"]["windows"].size(), 1u) << r.dump();
  const nlohmann::json window = r["extra"]["windows"][0];
  EXPECT_EQ(window["outcome"], "text");
  EXPECT_EQ(window["stop"], "end_of_text");
  EXPECT_EQ(window["fallbacks"], 0);
  EXPECT_LT(window["no_speech_prob"].get<double>(), 0.2);
  EXPECT_EQ(r["language"], "en");
}

TEST_F(steno_demo_whisper, second_task_writes_numbers_in_digits) {
  const std::string spoken = hear("")["text"], written = hear("--translate")["text"];
  EXPECT_NE(spoken.find(" seven "), std::string::npos) << spoken;
  EXPECT_EQ(written.find(" seven"), std::string::npos) << written;
  EXPECT_EQ(hear("--translate", "question.wav")["text"], hear("", "question.wav")["text"]);
}

TEST_F(steno_demo_whisper, beams_and_text_without_times_agree) {
  EXPECT_EQ(hear("--beam-size 5")["text"], hear("")["text"]);
  EXPECT_EQ(hear("--without-timestamps")["text"], hear("")["text"]);
}

// Short files share their clips; what is printed is the same, broken ones among them included.
TEST(steno_demo, several_files_at_once_are_written_as_one_by_one) {
  const steno::test::temporary_directory dir;
  std::string files = "none.wav ";
  for (const char* name : {"train", "question", "shopping", "train"})
    files.append("'").append((examples / "audio" / name).string()).append(".wav' broken.wav ");
  for (const char* demo : {"qwen3-asr", "sense-voice"}) {
    const auto run = [&](const std::string& clips) {
      return steno::test::shell(dir, "echo no sound >broken.wav && '" STENO_PROGRAM "' -q --format json --demo " +
                                         std::string(demo) + " --parallel-clips " + clips + " " + files);
    };
    const auto alone = run("1");
    EXPECT_EQ(alone.code, 1);
    EXPECT_EQ(std::count(alone.out.begin(), alone.out.end(), '\n'), 4);
    for (const char* clips : {"2", "3", "64"}) {
      const auto together = run(clips);
      EXPECT_EQ(together.code, 1);
      EXPECT_EQ(together.out, alone.out) << demo << clips;
      EXPECT_EQ(together.err, alone.err) << demo << clips;
    }
  }
}

TEST(steno_demo, longest_is_for_models_that_hear_clips) {
  const steno::test::temporary_directory dir;
  const auto run = [&](const std::string& options) {
    return steno::test::shell(
        dir, "'" STENO_PROGRAM "' -q " + options + " '" + (examples / "audio" / "train.wav").string() + "'");
  };
  EXPECT_EQ(run("--demo sense-voice --max-clip-seconds 0.5").code, 2);
  const auto whole = run("--demo whisper --max-clip-seconds 10");
  EXPECT_EQ(whole.code, 2);
  EXPECT_EQ(whole.err.rfind("steno: --max-clip-seconds: ", 0), 0u) << whole.err;
  EXPECT_EQ(run("--demo whisper --vad energy --max-clip-seconds 10").code, 0);
  const auto pieces = run("--demo sense-voice --max-clip-seconds 1 --format tsv");
  EXPECT_GT(std::count(pieces.out.begin(), pieces.out.end(), '\n'), 3) << pieces.out;
}

TEST(steno_demo, takes_phrases) {
  ASSERT_TRUE(std::filesystem::exists(examples / "models" / "demo.gguf"));
  const steno::test::temporary_directory dir;
  const auto o = steno::test::shell(dir, "echo hello >words.txt && env -u STENO_DEMO_MODEL '" STENO_PROGRAM
                                         "' -q --hotwords words.txt '" +
                                             (examples / "audio" / "train.wav").string() + "'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "the train to paris leaves in seven minutes\n");  // nobody says hello
}

}  // namespace steno_demo_test
