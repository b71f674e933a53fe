// A run over many recordings that goes on where another one ended.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "programs/run_program.hpp"

namespace steno_resume_test {

namespace fs = std::filesystem;
using steno::test::outcome;

class steno_resume : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"train.wav", "question.wav", "shopping.wav"})
      fs::copy(fs::path(STENO_SOURCE_DIR) / "examples/audio" / name, dir.path() / name);
  }
  outcome run(const std::string& arguments) { return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments); }
  fs::path at(const char* name) { return dir.path() / name; }
  auto written(const char* name) { return fs::last_write_time(at(name)); }
  steno::test::temporary_directory dir;
};

TEST_F(steno_resume, what_is_done_is_not_done_again) {
  ASSERT_EQ(run("-o out/ --resume train.wav question.wav").code, 0);
  const auto first = written("out/train.txt");
  const outcome o = run("-o out/ --resume train.wav question.wav shopping.wav");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.err.find("2 of 3 inputs were done before"), std::string::npos) << o.err;
  EXPECT_EQ(written("out/train.txt"), first);
  EXPECT_TRUE(fs::exists(at("out/shopping.txt")));
  EXPECT_EQ(run("-q -o out/ --resume train.wav question.wav shopping.wav").code, 0);
}

TEST_F(steno_resume, what_is_not_whole_or_has_changed_is_done_again) {
  ASSERT_EQ(run("-q -o out/ --resume train.wav question.wav shopping.wav").code, 0);
  fs::remove(at("out/train.txt"));
  fs::last_write_time(at("question.wav"), written("question.wav") + std::chrono::hours(1));
  const outcome o = run("-o out/ --resume train.wav question.wav shopping.wav");
  EXPECT_NE(o.err.find("1 of 3 inputs were done before"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::exists(at("out/train.txt")));
  // Other results: another format, another model.
  EXPECT_EQ(run("-o out/ --resume --format srt train.wav").err.find("done before"), std::string::npos);
  EXPECT_EQ(run("-o out/ --resume --demo u2 train.wav").err.find("done before"), std::string::npos);
  // Other options, but for those that change no result.
  ASSERT_EQ(run("-q -o out/ --resume --demo parakeet-ctc question.wav").code, 0);
  EXPECT_NE(run("-o out/ --resume --demo parakeet-ctc --threads 1 --parallel-clips 2 question.wav").err.find("1 of 1"),
            std::string::npos);
  for (const char* other : {"--beam 4", "--vad energy", "--beam 5"})
    EXPECT_EQ(run(std::string("-o out/ --resume --demo parakeet-ctc question.wav ") + other).err.find("done before"),
              std::string::npos)
        << other;
  EXPECT_NE(run("-o out/ --resume --demo parakeet-ctc --beam-size=5 question.wav").err.find("1 of 1"),
            std::string::npos);
  // A list that somebody cut or broke.
  fs::remove_all(at("out/.steno-done"));
  fs::create_directory(at("out/.steno-done"));
  std::ofstream(at("out/.steno-done/done.jsonl")) << "{\"name\":\"train\",\"aud\n[1]\n\n\"x\"\n";
  const outcome broken = run("-o out/ --resume train.wav question.wav");
  EXPECT_EQ(broken.code, 0);
  EXPECT_EQ(broken.err.find("done before"), std::string::npos) << broken.err;
}

TEST_F(steno_resume, what_was_damaged_is_done_and_listed) {
  fs::resize_file(at("train.wav"), fs::file_size(at("train.wav")) - 9000);
  EXPECT_EQ(run("-q -o out/ --resume train.wav question.wav").code, 3);
  std::ifstream list(at("out/.steno-done/damaged.jsonl"));
  std::string line, none;
  EXPECT_TRUE(std::getline(list, line) && !std::getline(list, none));
  EXPECT_EQ(line.find("{\"name\":\"train\",\"audio\":\"train.wav\",\"damaged\":\""), 0u) << line;
  const outcome again = run("-o out/ --resume train.wav question.wav");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("2 of 2 inputs were done before"), std::string::npos) << again.err;
}

TEST_F(steno_resume, what_fails_is_tried_again) {
  std::ofstream(at("bad.wav")) << "no sound";
  EXPECT_EQ(run("-o out/ --resume train.wav bad.wav").code, 1);
  const outcome o = run("-o out/ --resume train.wav bad.wav");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("bad.wav"), std::string::npos);
  EXPECT_NE(o.err.find("1 of 2 inputs were done before"), std::string::npos) << o.err;
}

// Nobody speaks in it, so its subtitles are empty.
TEST_F(steno_resume, what_has_no_text_is_done_too) {
  const std::string header("RIFF\x24\x7d\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\0\x7d\0\0",
                           44);
  std::ofstream(at("silence.wav"), std::ios::binary) << header << std::string(32000, '\0');
  ASSERT_EQ(run("--vad energy --format srt,json -o out/ --resume silence.wav").code, 0);
  EXPECT_TRUE(fs::exists(at("out/silence.srt")));
  const outcome o = run("--vad energy --format srt,json -o out/ --resume silence.wav");
  EXPECT_NE(o.err.find("1 of 1 inputs were done before"), std::string::npos) << o.err;
}

// As old archives have them, in Latin-1: two that look alike where they are shown.
TEST_F(steno_resume, names_may_be_any_bytes) {
  for (const char* name : {"M\xe4rz.wav", "M\xe5rz.wav"}) fs::copy(at("train.wav"), at(name));
  ASSERT_EQ(run("-q -o out/ --resume M*.wav").code, 0);
  EXPECT_TRUE(fs::exists(at("out/M\xe4rz.txt")));
  fs::remove(at("out/M\xe4rz.txt"));
  const outcome o = run("-o out/ --resume M*.wav train.wav");
  EXPECT_NE(o.err.find("1 of 3 inputs were done before"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::exists(at("out/M\xe4rz.txt")));
  EXPECT_NE(run("-o out/ --resume M*.wav train.wav").err.find("3 of 3 inputs were done before"), std::string::npos);
}

TEST_F(steno_resume, shards_know_what_others_did) {
  ASSERT_EQ(run("-q -o out/ --resume --shard 0/2 train.wav question.wav shopping.wav").code, 0);
  ASSERT_EQ(run("-q -o out/ --resume --shard 1/2 train.wav question.wav shopping.wav").code, 0);
  const outcome o = run("-o out/ --resume train.wav question.wav shopping.wav");
  EXPECT_NE(o.err.find("3 of 3 inputs were done before"), std::string::npos) << o.err;
}

TEST_F(steno_resume, needs_a_directory) {
  for (const char* line :
       {"--resume train.wav", "--resume -o one.txt train.wav", "--resume --output-name x train.wav"}) {
    const outcome o = run(line);
    EXPECT_EQ(o.code, 2) << line;
    EXPECT_NE(o.err.find("-o"), std::string::npos) << o.err;
  }
}

}  // namespace steno_resume_test
