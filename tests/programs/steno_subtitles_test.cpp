// Subtitles of every demonstration model, as other people's parsers read them (cues.py; Debian's own Python with
// python3-srt and python3-webvtt, and FFmpeg where it is installed).
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "run_program.hpp"

namespace steno_subtitles_test {

namespace fs = std::filesystem;

struct subtitles {
  const char* demo;
  const char* format;
  const char* more = "";  // arguments
};
void PrintTo(const subtitles& s, std::ostream* out) { *out << s.demo << ' ' << s.format << ' ' << s.more; }

class steno_subtitles : public testing::TestWithParam<subtitles> {};

// Words alone: cues break lines, and some writers put spaces where a script has none.
std::string letters(const std::string& text) {
  std::string all;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) all += c;
  return all;
}

TEST_P(steno_subtitles, are_read_by_other_parsers) {
  const auto& [demo, format, more] = GetParam();
  const fs::path audio = fs::path(STENO_SOURCE_DIR) / "examples/audio";
  const steno::test::temporary_directory to;
  std::string command = "'" STENO_PROGRAM "' -q --demo ";
  command.append(demo).append(" ").append(more).append(" '").append(audio.string()).append("'/*.wav");
  const std::string both = command + " -o json/ --format json && " + command + " -o cues/ --format " + format;
  const auto o = steno::test::shell(to, both);
  ASSERT_EQ(o.code, 0) << o.err;
  const auto read = steno::test::shell(
      to, "/usr/bin/python3 '" STENO_SOURCE_DIR "/tests/programs/cues.py' cues/*." + std::string(format));
  if (read.code == 77) GTEST_SKIP() << "FFmpeg reads this format, and is not installed";
  ASSERT_EQ(read.code, 0) << read.err;
  const auto cues = nlohmann::json::parse(read.out);
  EXPECT_EQ(cues.size(), 3u);
  for (const auto& e : fs::directory_iterator(audio)) {
    if (e.path().extension() != ".wav") continue;
    const std::string name = e.path().stem().string();
    SCOPED_TRACE(name);
    const auto said = nlohmann::json::parse(std::ifstream(to.path() / "json" / (name + ".json")));
    std::string text;
    const double written = format == std::string("ass") || format == std::string("lrc") ? 0.0101 : 5e-4;  // s
    double before = 0;
    for (const nlohmann::json& cue : cues.at("cues/" + name + "." + format)) {
      const double start = cue["start"], end = cue["end"];
      EXPECT_GE(start, before - 1e-9);
      EXPECT_GE(end - start,
                0.3 - (written > 1e-3 ? written
                                      : 1e-9));  // as docs/program.md promises where the recording goes on for so long
      EXPECT_LE(end, said["duration"].get<double>() + written);
      EXPECT_FALSE(letters(cue["text"]).empty());
      text += cue["text"].get<std::string>();
      before = end;
    }
    EXPECT_EQ(letters(text), letters(said["text"]));
  }
}

INSTANTIATE_TEST_SUITE_P(
    demos, steno_subtitles, testing::ValuesIn([] {
      std::vector<subtitles> all;
      for (const char* demo : {"sense-voice", "paraformer", "online", "parakeet-ctc", "parakeet-tdt", "eou", "u2",
                               "whisper", "qwen3-asr", "nano"})
        for (const char* format : {"srt", "vtt", "ass", "lrc"}) {
          all.push_back({demo, format});
          all.push_back({demo, format, demo == std::string("whisper") ? "--word-timestamps" : "--max-clip-seconds 1"});
        }
      return all;
    }()));

}  // namespace steno_subtitles_test
