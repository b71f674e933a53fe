// steno at a terminal: the screen shows the results, line by line, and messages; the bar and partial texts are gone.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/terminal.hpp"

namespace steno_terminal_test {

namespace fs = std::filesystem;
using lines = std::vector<std::string>;
using steno::test::on_terminal;
using steno::test::terminal_outcome;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

std::string recording(const char* name) {
  return std::string("'").append((examples / "audio" / name).string()).append("'");
}

// What a terminal shows of a text.
lines shown_at(int width, const std::string& text) {
  steno::test::screen_of screen(width);
  for (const char c : text) screen.feed(c == '\n' ? "\r\n" : std::string(1, c));
  return screen.lines();
}

// Latencies differ from run to run.
std::string without_latency(const std::string& line) {
  nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
  if (!j.is_object() || !j.contains("latency_ms")) return line;
  j.erase("latency_ms");
  return j.dump();
}

std::string compact_model(const char* family) {
  return std::string(" -m '").append((steno::test::compact() / family / "model.gguf").string()).append("' ");
}

struct command {
  const char* name;
  std::string arguments;
  bool summary = true;
  friend void PrintTo(const command& c, std::ostream* out) { *out << c.name; }
};

class steno_terminal : public testing::TestWithParam<command> {
 protected:
  void SetUp() override {
    std::ofstream(dir.path() / "said.txt") << "the train to paris\n";
    arguments = GetParam().arguments;
    if (const std::size_t at = arguments.find("said.txt"); at != std::string::npos)
      arguments.insert(at, dir.path().string() + "/");
  }
  // The results into a file, without a terminal.
  std::string expected() {
    const auto o = steno::test::shell(dir, "'" STENO_PROGRAM "' -q " + arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  }
  // Behind the results nothing but the last message.
  void expect_screen(const terminal_outcome& o, const lines& results) {
    ASSERT_EQ(o.code, 0) << o.bytes;
    lines shown = o.lines;
    while (!shown.empty() && shown.back().rfind("steno: ", 0) == 0) shown.pop_back();
    while (!shown.empty() && shown.back().empty()) shown.pop_back();
    EXPECT_EQ(shown.size() < o.lines.size(), GetParam().summary);
    ASSERT_EQ(shown.size(), results.size()) << o.bytes;
    for (std::size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(without_latency(shown[i]), without_latency(results[i]));
  }
  steno::test::temporary_directory dir;
  std::string arguments;
};

TEST_P(steno_terminal, shows_results_and_nothing_else) {
  const std::string results = expected();
  ASSERT_FALSE(results.empty());
  for (const int width : {20, 80, 300})
    expect_screen(on_terminal("'" STENO_PROGRAM "' " + arguments, width), shown_at(width, results));
}

// `| tee`: standard output is a pipe whose reader writes to the same terminal.
TEST_P(steno_terminal, shows_whole_lines_behind_a_pipe) {
  const lines results = shown_at(100, expected());
  const terminal_outcome o = on_terminal("'" STENO_PROGRAM "' " + arguments + " | cat", 100);
  lines shown;  // the reader's last lines may come behind the last message
  for (const std::string& line : o.lines)
    if (line.rfind("steno: ", 0) != 0) shown.push_back(without_latency(line));
  while (!shown.empty() && shown.back().empty()) shown.pop_back();
  lines wanted;
  for (const std::string& line : results) wanted.push_back(without_latency(line));
  EXPECT_EQ(shown, wanted) << o.bytes;
}

INSTANTIATE_TEST_SUITE_P(
    all, steno_terminal,
    testing::Values(
        command{"text", recording("train.wav")},
        command{"several", recording("train.wav") + " " + recording("question.wav") + " " + recording("shopping.wav")},
        command{"pieces", "--max-clip-seconds 1 " + recording("train.wav")},
        command{"json", "--format json " + recording("train.wav")},
        command{"jsonl", "--format jsonl --max-clip-seconds 1 " + recording("train.wav")},
        command{"srt", "--format srt --max-clip-seconds 1 " + recording("train.wav")},
        command{"vtt", "--format vtt --max-clip-seconds 1 " + recording("train.wav")},
        command{"tsv", "--format tsv --max-clip-seconds 1 " + recording("train.wav")},
        command{"stream", "stream --demo u2 --chunk-size 4 " + recording("train.wav")},
        command{"stream_turns", "stream --demo eou " + recording("shopping.wav")},
        command{"stream_events", "stream --demo u2 --chunk-size 4 --format jsonl " + recording("train.wav")},
        command{"vad", "vad " + recording("train.wav") + " " + recording("question.wav")},
        command{"vad_json", "vad --format json " + recording("train.wav")},
        command{"vad_rttm", "vad --format rttm " + recording("train.wav")},
        command{"diarize", "diarize" + compact_model("sortformer") + "--onset 0.2 " + recording("shopping.wav")},
        command{"diarize_json", "diarize" + compact_model("sortformer") + "--format json " + recording("train.wav")},
        command{"align", "align" + compact_model("qwen3_aligner") + "--text said.txt " + recording("train.wav"), false},
        command{"align_srt",
                "align" + compact_model("qwen3_aligner") + "--format srt --text said.txt " + recording("train.wav"),
                false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(steno_on_a_terminal, a_recording_alone_prints_the_transcript) {
  const nlohmann::json samples = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
  for (const nlohmann::json& sample : samples) {
    const std::string file = sample["file"];
    const terminal_outcome o = on_terminal("'" STENO_PROGRAM "' " + recording(file.c_str()), 80);
    ASSERT_EQ(o.lines.size(), 2u) << o.bytes;
    EXPECT_EQ(o.lines[0], sample["text"].get<std::string>());
    EXPECT_NE(o.lines[1].find("real time"), std::string::npos);
  }
}

// How many lines of the screen are this one; a tab's columns are one space.
std::ptrdiff_t times_shown(const terminal_outcome& o, const std::string& line) {
  lines shown = o.lines;
  for (std::string& row : shown)
    while (row.find("   ") != std::string::npos) row.erase(row.find("   "), 2);
  return std::count(shown.begin(), shown.end(), line);
}

// The samples of docs/program.md: a line `build/bin/steno ...`, and behind it `#> ` and a line of the screen.
TEST(steno_on_a_terminal, commands_of_the_documents_show_what_they_say) {
  const fs::path root = STENO_SOURCE_DIR;
  std::ifstream page(root / "docs" / "program.md");
  constexpr std::string_view program = "build/bin/steno ", screen = "#> ";
  int commands = 0;
  for (std::string line, command; std::getline(page, line); command = line) {
    if (line.rfind(screen, 0) != 0 || command.rfind(program, 0) != 0) continue;
    const std::string shows = line.substr(screen.size());
    SCOPED_TRACE(command);
    const terminal_outcome o =
        on_terminal("cd '" + root.string() + "' && '" STENO_PROGRAM "' " + command.substr(program.size()), 80);
    EXPECT_EQ(o.code, 0) << o.bytes;
    EXPECT_EQ(times_shown(o, shows), 1) << o.bytes;
    ++commands;
  }
  EXPECT_GT(commands, 8);
}

// The table of README.md: a row with a command and the line of the screen that it shows.
TEST(steno_on_a_terminal, commands_of_the_readme_show_what_they_say) {
  const fs::path root = STENO_SOURCE_DIR;
  std::ifstream page(root / "README.md");
  int commands = 0;
  for (std::string line; std::getline(page, line);) {
    constexpr std::string_view program = "| `steno ", between = "` | `", after = "` |";
    const std::size_t middle = line.find(between);
    if (line.rfind(program, 0) != 0 || middle == std::string::npos || !line.ends_with(after)) continue;
    const std::string arguments = line.substr(program.size(), middle - program.size()),
                      shows =
                          line.substr(middle + between.size(), line.size() - after.size() - middle - between.size());
    SCOPED_TRACE(arguments);
    const terminal_outcome o =
        on_terminal("cd '" + (root / "examples" / "audio").string() + "' && '" STENO_PROGRAM "' " + arguments, 80);
    EXPECT_EQ(o.code, 0) << o.bytes;
    EXPECT_EQ(times_shown(o, shows), 1) << o.bytes;
    ++commands;
  }
  EXPECT_GE(commands, 5);
}

TEST(steno_on_a_terminal, other_verbs_write_what_they_write_into_a_file) {
  const steno::test::temporary_directory dir;
  for (const std::string& arguments : {std::string("info"), std::string("info --format json"), std::string("--help"),
                                       std::string("--version"), std::string("stream --help")}) {
    const auto o = steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments);
    EXPECT_EQ(on_terminal("'" STENO_PROGRAM "' " + arguments, 200).lines, shown_at(200, o.out)) << arguments;
  }
}

TEST(steno_on_a_terminal, failures_stand_between_results) {
  const terminal_outcome o =
      on_terminal("'" STENO_PROGRAM "' " + recording("train.wav") + " none.txt " + recording("train.wav"), 80);
  EXPECT_EQ(o.code, 1);
  ASSERT_GE(o.lines.size(), 5u) << o.bytes;
  EXPECT_NE(o.lines[0].find("is a toy"), std::string::npos);  // none.txt is no bundled recording
  EXPECT_EQ(o.lines[1].rfind("the train", 0), 0u);
  EXPECT_EQ(o.lines[2], "steno: none.txt: No such file or directory");
  EXPECT_EQ(o.lines[3], o.lines[1]);
}

TEST(steno_on_a_terminal, results_into_a_file_leave_the_bar_to_the_screen) {
  const steno::test::temporary_directory dir;
  const std::string out = (dir.path() / "out.txt").string();
  const terminal_outcome o = on_terminal("'" STENO_PROGRAM "' -o '" + out + "' " + recording("train.wav"), 60);
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.bytes.find("[1/1] train.wav"), std::string::npos);
  std::string whole;
  for (const std::string& line : o.lines) whole += line;
  EXPECT_EQ(whole.rfind("steno: ", 0), 0u) << o.bytes;
  EXPECT_GT(fs::file_size(out), 10u);
}

}  // namespace steno_terminal_test
