// steno as its users meet it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "programs/run_program.hpp"

namespace steno_test {

using steno::test::outcome;

class steno_program : public testing::Test {
 protected:
  outcome run(const std::string& arguments) { return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments); }
  outcome run_shell(const std::string& command) {
    return steno::test::shell(dir, "steno='" STENO_PROGRAM "'; " + command);
  }
  void write(const char* name, const std::string& bytes) {
    std::ofstream(dir.path() / name, std::ios::binary) << bytes;
  }
  steno::test::temporary_directory dir;
};

void expect_error(const outcome& o, int code, const std::string& part) {
  EXPECT_EQ(o.code, code) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

TEST_F(steno_program, without_arguments_shows_its_usage) {
  const outcome o = run("");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err.rfind("usage: steno", 0), 0u);
}

TEST_F(steno_program, help_and_version_go_to_standard_output) {
  for (const char* arguments :
       {"--help", "-h", "transcribe --help", "vad --help", "info --help", "bench --help", "--version"}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0) << arguments;
    EXPECT_EQ(o.err, "");
    EXPECT_NE(o.out, "");
  }
}

TEST_F(steno_program, wrong_usage_exits_with_2) {
  expect_error(run("--formt json a.wav"), 2, "did you mean --format?");
  expect_error(run("transcrib a.wav"), 2, "did you mean transcribe?");
  expect_error(run("transcribe"), 2, "no AUDIO given");
  expect_error(run("a.wav --format doc"), 2, "unknown format doc");
  expect_error(run("a.wav --shard 3"), 2, "--shard 3");
  expect_error(run("diarize a.wav"), 2, "--model is required");
}

TEST_F(steno_program, bad_inputs_exit_with_1_and_name_the_file) {
  expect_error(run("none.wav"), 1, "steno: none.wav: No such file or directory");
  expect_error(run("."), 1, "steno: .: is a directory without sound files");
  expect_error(run("--manifest none.jsonl"), 1, "none.jsonl: cannot read the manifest");
  write("list.jsonl", "{\"audio\": 1}\n");
  expect_error(run("--manifest list.jsonl"), 1, "list.jsonl:1: not a manifest entry");
}

TEST_F(steno_program, bad_models_exit_with_1_and_name_the_file) {
  write("a.wav", std::string(100, 'x'));
  write("text.gguf", "no model");
  expect_error(run("-m none.gguf a.wav"), 1, "none.gguf");
  expect_error(run("-m text.gguf a.wav"), 1, "text.gguf");
  expect_error(run("info text.gguf"), 1, "text.gguf");
}

TEST_F(steno_program, an_output_that_cannot_be_written_exits_with_1) {
  expect_error(run("none.wav -o no/such/out.txt"), 1, "no/such/out.txt: cannot write");
}

TEST_F(steno_program, a_reader_that_goes_away_ends_it_silently) {
  const outcome o = run_shell("\"$steno\" --help | head -n 1 >/dev/null");
  EXPECT_EQ(o.err, "");
}

}  // namespace steno_test
