// Command lines of other programs: those of their documentation work as they are, or an error says what to write
// instead. The lines are in the form of their documentation, with other names of files and models.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "programs/run_program.hpp"

namespace steno_peers_test {

namespace fs = std::filesystem;
using steno::test::outcome;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

class steno_peers : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"train.wav", "question.wav"}) fs::copy(examples / "audio" / name, dir.path() / name);
    for (const char* name : {"whisper.gguf", "paraformer.gguf", "fsmn-vad.gguf"})
      fs::create_symlink(examples / "models" / name, dir.path() / name);
  }
  outcome run(const std::string& arguments) { return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments); }
  std::string read(const std::string& name) {
    std::ifstream in(dir.path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  steno::test::temporary_directory dir;
};

// The same as a line in steno's own words.
struct same_line {
  const char *theirs, *ours;
};

TEST_F(steno_peers, lines_of_their_documentation_work_as_they_are) {
  for (const same_line& l : std::vector<same_line>{
           // whisper.cpp
           {"-m whisper.gguf -f train.wav", "-m whisper.gguf train.wav"},
           {"--file train.wav --model whisper.gguf", "-m whisper.gguf train.wav"},
           {"-m whisper.gguf -f train.wav -f question.wav", "-m whisper.gguf train.wav question.wav"},
           {"-t 1 -p 1 -m whisper.gguf -f train.wav -np", "--threads 1 -q -m whisper.gguf train.wav"},
           {"-m whisper.gguf -l en -nt -f train.wav", "-m whisper.gguf --language en train.wav"},
           {"-m whisper.gguf -bs 2 -bo 2 -nf -tp 0 -f train.wav",
            "-m whisper.gguf --beam 2 --best-of 2 --no-fallback --temperature 0 train.wav"},
           {"-m whisper.gguf -tr -f train.wav", "-m whisper.gguf --translate train.wav"},
           {"-m whisper.gguf --no-gpu -fa -sns -f train.wav", "-m whisper.gguf --suppress-tokens=-1 train.wav"},
           {"-m whisper.gguf --vad-model fsmn-vad.gguf --vad -f train.wav",
            "-m whisper.gguf --vad fsmn-vad.gguf train.wav"},
           {"-m whisper.gguf -vm energy --vad -vt 12 -vspd 90 -vsd 300 -vp 50 -f train.wav",
            "-m whisper.gguf --vad energy --vad-threshold 12 --vad-min-speech 90 --vad-min-silence 300 --vad-pad 50 "
            "train.wav"},
           {"-m whisper.gguf -ot 500 -d 1500 -f train.wav", "-m whisper.gguf --offset 0.5 --duration 1.5 train.wav"},
           {"-m whisper.gguf -di -f train.wav", "-m whisper.gguf --channels split train.wav"},
           {"-m whisper.gguf -mc 0 --entropy-threshold 2 -f train.wav", ""},
           // openai-whisper
           {"train.wav question.wav --model whisper.gguf", "-m whisper.gguf train.wav question.wav"},
           {"train.wav --language English --model whisper.gguf", "-m whisper.gguf --language en train.wav"},
           {"train.wav --model whisper.gguf --task translate --fp16 False --verbose False",
            "-m whisper.gguf --translate train.wav"},
           {"train.wav --model whisper.gguf --word_timestamps True --output_format srt",
            "-m whisper.gguf --word-timestamps --format srt train.wav"},
           {"train.wav --model whisper.gguf -f vtt --device cpu", "-m whisper.gguf --format vtt train.wav"},
           {"train.wav --model whisper.gguf --condition_on_previous_text False --best_of 2 --temperature 0",
            "-m whisper.gguf --no-condition-on-previous-text --best-of 2 --temperature 0 train.wav"},
           // whisper-ctranslate2
           {"train.wav --model_directory whisper.gguf --compute_type int8 --vad_filter True",
            "-m whisper.gguf --vad energy train.wav"},
           {"train.wav --model whisper.gguf --vad_filter False --local_files_only True", "-m whisper.gguf train.wav"},
           // FunASR
           {"++model=paraformer.gguf ++vad_model=\"fsmn-vad.gguf\" ++input=train.wav",
            "-m paraformer.gguf --vad fsmn-vad.gguf train.wav"},
           {"+model=paraformer.gguf +input=train.wav ++ncpu=1 ++device=cpu", "-m paraformer.gguf train.wav"}}) {
    SCOPED_TRACE(l.theirs);
    const outcome theirs = run(l.theirs);
    if (*l.ours == '\0') {  // a slip is still a slip
      EXPECT_EQ(theirs.code, 2);
      continue;
    }
    const outcome ours = run(l.ours);
    EXPECT_EQ(theirs.code, 0) << theirs.err;
    EXPECT_EQ(theirs.out, ours.out);
    EXPECT_NE(ours.out, "");
  }
}

TEST_F(steno_peers, files_are_where_they_put_them) {
  // whisper.cpp: beside the recording, or where -of says; several formats in one run.
  ASSERT_EQ(run("-m whisper.gguf -otxt -osrt -f train.wav").code, 0);
  EXPECT_EQ(read("train.wav.srt"), run("-m whisper.gguf --format srt train.wav").out);
  EXPECT_EQ(read("train.wav.txt"), run("-m whisper.gguf train.wav").out);
  ASSERT_EQ(run("-m whisper.gguf --output-lrc -of named -f train.wav").code, 0);
  EXPECT_EQ(read("named.lrc"), run("-m whisper.gguf --format lrc train.wav").out);
  // openai-whisper: all of its formats in a directory.
  ASSERT_EQ(run("train.wav --model whisper.gguf --output_dir out").code, 0);
  for (const char* f : {"txt", "vtt", "srt", "tsv", "json"})
    EXPECT_TRUE(fs::exists(dir.path() / "out" / (std::string("train.") + f))) << f;
  ASSERT_EQ(run("train.wav --model whisper.gguf --output_dir one --output_format tsv").code, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path() / "one"), fs::directory_iterator()), 1);
}

TEST_F(steno_peers, what_cannot_be_done_says_what_to_write_instead) {
  const std::pair<const char*, const char*> all[] = {
      {"-m whisper.gguf -tdrz -f train.wav", "--speakers"},
      {"-m whisper.gguf -owts -f train.wav", "--format ass"},
      {"-m whisper.gguf -et 2.4 -f train.wav", "--compression-ratio-threshold"},
      {"-m whisper.gguf -mc 64 -f train.wav", "--no-condition-on-previous-text"},
      {"-m whisper.gguf --grammar g.gbnf -f train.wav", "--hotwords"},
      {"train.wav --model whisper.gguf --device cuda", "leave it out"},
      {"train.wav --model whisper.gguf --live_transcribe True", "steno stream"},
      {"train.wav --model whisper.gguf --hf_token x", "--speakers"},
      {"++model=paraformer.gguf ++spk_model=cam++ ++input=train.wav", "--speakers"},
      {"++model=paraformer.gguf ++hotword=train ++input=train.wav", "--hotwords"},
      {"++model=paraformer.gguf ++no_such=1 ++input=train.wav", "steno help peers"},
      {"info -ot 5 -m whisper.gguf", "-ot (whisper.cpp)"}};
  for (const auto& [line, advice] : all) {
    SCOPED_TRACE(line);
    const outcome o = run(line);
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find(advice), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST_F(steno_peers, what_has_no_effect_is_noted) {
  const outcome o = run("-m whisper.gguf --no-gpu -f train.wav --fp16 False");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.err.find("--no-gpu (whisper.cpp) has no effect"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("--fp16"), std::string::npos) << o.err;  // false is what is so
}

TEST_F(steno_peers, behind_two_dashes_are_files) {
  fs::copy(dir.path() / "train.wav", dir.path() / "-f");
  fs::copy(dir.path() / "train.wav", dir.path() / "+input=x.wav");
  EXPECT_EQ(run("-q -m whisper.gguf +input=x.wav").out, run("-q -m whisper.gguf train.wav").out);
  const outcome o = run("-q -m whisper.gguf -- -f");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, run("-q -m whisper.gguf train.wav").out);
}

}  // namespace steno_peers_test
