// Help, completions and manual pages, which are made from the options themselves.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "programs/run_program.hpp"

namespace steno_help_test {

using steno::test::outcome;

const char* const verbs[] = {"transcribe", "stream", "diarize", "vad", "align", "serve", "bench", "info", "models"};

class steno_help : public testing::Test {
 protected:
  outcome run(const std::string& arguments) { return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments); }
  void write(const char* name, const std::string& text) { std::ofstream(dir.path() / name) << text; }
  bool has(const char* program) { return steno::test::shell(dir, std::string("command -v ") + program).code == 0; }
  steno::test::temporary_directory dir;
};

// A screen has 80 columns, and at least the 24 rows of a terminal for a topic.
TEST_F(steno_help, fits_a_screen) {
  for (const char* verb : verbs) {
    const outcome o = run(std::string(verb) + " --help");
    ASSERT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_EQ(run(std::string("help ") + verb).out, o.out);
    std::istringstream lines(o.out);
    int rows = 0;
    std::string title;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << line;
      if (line.empty()) {
        rows = 0;
        title.clear();
        continue;
      }
      if (title.empty()) title = line;
      EXPECT_LE(++rows, 24) << verb << ": " << title;
    }
  }
  std::istringstream peers(run("help peers").out);
  for (std::string line; std::getline(peers, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(steno_help, has_topics) {
  const outcome o = run("help output");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out.rfind("Output: ", 0), 0u) << o.out;
  EXPECT_NE(o.out.find("--format"), std::string::npos);
  EXPECT_EQ(o.out.find("--threads"), std::string::npos);
  EXPECT_NE(run("help stream turns").out.find("--max-utterance-seconds"), std::string::npos);
  const outcome unknown = run("help nothing");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("output"), std::string::npos) << unknown.err;
}

TEST_F(steno_help, of_a_model_leaves_out_what_it_does_not_take) {
  const outcome whisper = run("--demo whisper --help"), ctc = run("--help --demo parakeet-ctc");
  ASSERT_EQ(whisper.code, 0) << whisper.err;
  ASSERT_EQ(ctc.code, 0) << ctc.err;
  const auto offers = [](const outcome& o, const std::string& option) {
    return o.out.find("\n  " + option) != std::string::npos;
  };
  EXPECT_TRUE(offers(whisper, "--translate"));
  EXPECT_FALSE(offers(ctc, "--translate"));
  EXPECT_TRUE(offers(ctc, "--format"));
  EXPECT_NE(ctc.out.find("Left out"), std::string::npos);
  EXPECT_NE(ctc.out.find("--translate"), std::string::npos);
  EXPECT_EQ(run("-m none.gguf --help").code, 1);
}

TEST_F(steno_help, completes_in_bash) {
  const outcome script = run("help completion bash");
  ASSERT_EQ(script.code, 0) << script.err;
  write("steno.bash", script.out);
  const auto words = [&](const std::string& typed, int at) {
    return steno::test::shell(dir, "bash -c 'source ./steno.bash; COMP_WORDS=(" + typed +
                                       "); COMP_CWORD=" + std::to_string(at) + "; _steno; echo \"${COMPREPLY[*]}\"'")
        .out;
  };
  EXPECT_EQ(words("steno --timest", 1), "--timestamps\n");
  EXPECT_EQ(words("steno stream --forget", 2), "--forget-turns\n");
  EXPECT_EQ(words("steno --format js", 2), "json jsonl\n");
  EXPECT_EQ(words("steno stre", 1), "stream\n");
  EXPECT_EQ(words("steno -m steno.b", 2), "steno.bash\n");
  EXPECT_EQ(words("steno vad --forget", 2), "\n");
}

TEST_F(steno_help, other_shells_and_man_read_what_is_for_them) {
  for (const char* shell : {"zsh", "fish"}) {
    const outcome script = run(std::string("help completion ") + shell);
    ASSERT_EQ(script.code, 0) << script.err;
    for (const char* name : {"max-clip-seconds", "forget-turns", "postprocessing"})
      EXPECT_NE(script.out.find(name), std::string::npos) << shell << ' ' << name;
    write(shell, script.out);
    if (!has(shell)) continue;
    EXPECT_EQ(steno::test::shell(dir, std::string(shell) + " -n ./" + shell).code, 0) << shell;
  }
  EXPECT_EQ(run("help completion csh").code, 2);
  for (const char* verb : {"", "transcribe", "stream", "diarize", "vad", "align", "serve", "bench", "info"}) {
    const outcome page = run(std::string("help man ") + verb);
    ASSERT_EQ(page.code, 0) << page.err;
    EXPECT_EQ(page.out.rfind(".TH steno", 0), 0u);
    write("page", page.out);
    if (!has("groff")) continue;
    const outcome read = steno::test::shell(dir, "groff -man -Tutf8 -ww -z page");
    EXPECT_EQ(read.code, 0);
    EXPECT_EQ(read.err, "") << verb;
  }
}

TEST_F(steno_help, a_file_may_hold_options) {
  write("options.toml", "format = \"srt\"\nthreads = 1\n");
  const std::string audio = " '" STENO_SOURCE_DIR "/examples/audio/train.wav'";
  EXPECT_EQ(run("-q --config options.toml" + audio).out, run("-q --format srt --threads 1" + audio).out);
  EXPECT_EQ(run("-q --config options.toml --format tsv" + audio).out, run("-q --format tsv" + audio).out);
  write("options.toml", "no_such_option = 1\n");
  const outcome o = run("-q --config options.toml" + audio);
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("no_such_option"), std::string::npos) << o.err;
  const outcome none = run("-q --config none.toml" + audio);
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("none.toml"), std::string::npos) << none.err;
}

}  // namespace steno_help_test
