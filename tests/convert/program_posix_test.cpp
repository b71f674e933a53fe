// steno-convert as users run it: exit status and what it says.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <sys/wait.h>

#include <cstdlib>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace program_test {

namespace fs = std::filesystem;
using steno::test::fixture;
using steno::test::read_text;
using steno::test::write_text;

class convert_program : public testing::Test {
 protected:
  struct outcome {
    int status;
    std::string out, err;
  };
  // Runs in a directory of its own; `before` stands in front of the program in the shell.
  outcome run(const std::string& arguments, const std::string& before = "") {
    const fs::path out = directory_.path() / "stdout", err = directory_.path() / "stderr";
    const std::string command = "cd '" + directory_.path().string() + "' && " + before +
                                " '" STENO_CONVERT_PROGRAM "' " + arguments + " > '" + out.string() + "' 2> '" +
                                err.string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  }
  void expect_failure(const std::string& arguments, int status, const std::string& part,
                      const std::string& before = "") {
    const outcome o = run(arguments, before);
    EXPECT_EQ(o.status, status) << arguments << "\n" << o.err;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    if (status == 1) {
      EXPECT_EQ(o.err.find('\n'), o.err.size() - 1) << "one line: " << o.err;
    }
    for (const fs::directory_entry& e : fs::directory_iterator(directory_.path()))
      EXPECT_FALSE(e.path().filename().string().starts_with("out.gguf")) << "left behind: " << e.path();
  }
  std::string folder() const { return "'" + fixture("sense_voice").string() + "'"; }

  steno::test::temporary_directory directory_;
};

TEST_F(convert_program, converts_quietly) {
  const outcome o = run(folder() + " -o out.gguf --type q8_0");
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err, "") << "no progress bar when stderr is not a terminal";
  const steno::gguf_file f((directory_.path() / "out.gguf").string());
  EXPECT_EQ(f.find("encoder.encoders.0.feed_forward.w_1.weight")->format, steno::dtype::q8_0);
}

TEST_F(convert_program, output_may_replace_the_input) {
  ASSERT_EQ(run(folder() + " -o out.gguf").status, 0);
  ASSERT_EQ(run("out.gguf -o out.gguf --type q8_0 --no-progress").status, 0);
  const steno::gguf_file f((directory_.path() / "out.gguf").string());
  EXPECT_EQ(f.number("general.file_type"), 7);
}

TEST_F(convert_program, wrong_usage_is_2) {
  expect_failure("", 2, "INPUT");
  expect_failure(folder(), 2, "output");
  expect_failure(folder() + " -o out.gguf --type q9", 2, "q9");
  expect_failure(folder() + " -o out.gguf --unknown", 2, "unknown");
  expect_failure(folder() + " another -o out.gguf", 2, "another");
}

TEST_F(convert_program, a_longest_clip_is_seconds_of_a_model_that_has_one) {
  const std::string model = "'" + (steno::test::compact() / "qwen3_asr" / "model.gguf").string() + "'";
  EXPECT_EQ(run(model + " -o out.gguf --longest-clip 10").status, 0);
  EXPECT_EQ(steno::gguf_file((directory_.path() / "out.gguf").string()).number("qwen3_asr.longest_clip"), 10.0);
  fs::remove(directory_.path() / "out.gguf");
  expect_failure(model + " -o out.gguf --longest-clip 0.5", 2, "--longest-clip");
  expect_failure(folder() + " -o out.gguf --longest-clip 10", 1, "--longest-clip is for Qwen3-ASR");
}

TEST_F(convert_program, mixes_and_types_of_single_tensors) {
  outcome o = run(folder() + " -o out.gguf --type q5_k_m --type-of 'ctc.*.weight=f16' --type-of '*w_1.weight=q4_1'");
  EXPECT_EQ(o.status, 0) << o.err;
  {
    const steno::gguf_file f((directory_.path() / "out.gguf").string());
    EXPECT_EQ(f.number("general.file_type"), 17);
    EXPECT_EQ(f.find("ctc.ctc_lo.weight")->format, steno::dtype::f16);
    EXPECT_EQ(f.find("encoder.encoders.0.feed_forward.w_1.weight")->format, steno::dtype::q4_1);
  }
  fs::remove(directory_.path() / "out.gguf");
  expect_failure(folder() + " -o out.gguf --type-of 'ctc.lo.weight=f16'", 1, "near names: ctc.ctc_lo.weight");
  expect_failure(folder() + " -o out.gguf --type-of 'embed.weight=f16'", 1, "\"embed.weight\" cannot be f16");
  expect_failure(folder() + " -o out.gguf --type-of f16", 2, "GLOB=TYPE");
}

TEST_F(convert_program, verify_writes_nothing_and_says_whether_it_would_convert) {
  outcome o = run("--verify " + folder() + " --type q8_0");
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find(": would convert: 48 tensors read"), std::string::npos) << o.out;
  o = run(folder() + " --verify --cmvn missing.mvn");
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.out.find("would not convert\nrefused  missing.mvn: "), std::string::npos) << o.out;
  expect_failure("--verify " + folder() + " -o out.gguf", 2, "--verify");
  expect_failure("--verify", 2, "INPUT");
}

TEST_F(convert_program, list_needs_no_input) {
  const outcome o = run("--list");
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("steno-convert SenseVoiceSmall/ -o sense_voice.gguf\n"), std::string::npos) << o.out;
}

TEST_F(convert_program, help_and_version_are_0) {
  outcome o = run("--help");
  EXPECT_EQ(o.status, 0);
  EXPECT_NE(o.out.find("--type"), std::string::npos);
  o = run("--version");
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out.find("0."), 0u);
}

TEST_F(convert_program, bad_input_is_1) {
  expect_failure("missing.pt -o out.gguf", 1, "steno-convert: missing.pt: ");
  fs::create_directory(directory_.path() / "empty");
  expect_failure("empty -o out.gguf", 1,
                 "empty: not a checkpoint folder: expected a GGUF file, a FunASR folder (config.yaml");
  write_text(directory_.path() / "pointer.pt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  expect_failure("pointer.pt -o out.gguf", 1, "pointer.pt: a git-LFS pointer");
  write_text(directory_.path() / "nothing.gguf", "");
  expect_failure("nothing.gguf -o out.gguf", 1, "nothing.gguf: the file is empty");
  write_text(directory_.path() / "short.gguf", "GGUF\x03");
  expect_failure("short.gguf -o out.gguf", 1, "short.gguf: ");
  write_text(directory_.path() / "sound.wav", "RIFF....WAVE");
  expect_failure("sound.wav -o out.gguf", 1, "sound.wav: a recording, not a model");
  fs::copy_file(fixture("zip_protocol2.pt"), directory_.path() / "lonely.pt");
  expect_failure("lonely.pt -o out.gguf", 1, "lonely.pt: a torch checkpoint without the files that describe it");
  expect_failure(folder() + " -o out.gguf --cmvn missing.mvn", 1, "missing.mvn: ");
}

TEST_F(convert_program, output_that_cannot_be_written_is_1) {
  expect_failure(folder() + " -o no/such/directory/out.gguf", 1, "no/such/directory/out.gguf: ");
  expect_failure(folder() + " -o .", 1, ".: ");
  // A limit of 8 KiB on files stands for a full disk.
  expect_failure(folder() + " -o out.gguf", 1, "out.gguf: ", "trap '' XFSZ && ulimit -f 8 &&");
}

}  // namespace program_test
