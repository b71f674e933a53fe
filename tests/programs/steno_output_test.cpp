// Where results go: what is there stays until there is something to write, nothing that is read is overwritten, and no
// place that cannot be written passes in silence.
// SPDX-License-Identifier: Apache-2.0
#include <sndfile.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "programs/run_program.hpp"

namespace steno_output_test {

namespace fs = std::filesystem;
using steno::test::outcome;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

class steno_output : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"train.wav", "question.wav"}) fs::copy(examples / "audio" / name, dir.path() / name);
    write("old.txt", "an old transcript\n");
  }
  outcome run(const std::string& arguments) { return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments); }
  void write(const char* name, const std::string& bytes) {
    std::ofstream(dir.path() / name, std::ios::binary) << bytes;
  }
  std::string read(const char* name) {
    std::ifstream in(dir.path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()));
  }
  steno::test::temporary_directory dir;
};

void expect_refused(const outcome& o, int code, const std::string& part) {
  EXPECT_EQ(o.code, code) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find(part), std::string::npos) << o.err << " lacks " << part;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

TEST_F(steno_output, a_run_that_brings_nothing_leaves_what_was_there) {
  write("bad.gguf", "no model");
  expect_refused(run("-q -m bad.gguf -o old.txt train.wav"), 1, "bad.gguf");
  expect_refused(run("-q --language xx -o old.txt train.wav"), 2, "--language xx");
  expect_refused(run("-q -o old.txt none.wav"), 1, "none.wav");
  expect_refused(run("vad -q -o old.txt none.wav"), 1, "none.wav");
  EXPECT_EQ(run("-q -o new.txt none.wav").code, 1);
  EXPECT_EQ(read("old.txt"), "an old transcript\n");
  EXPECT_FALSE(fs::exists(dir.path() / "new.txt"));
}

TEST_F(steno_output, several_formats_in_one_run_are_those_of_several_runs) {
  ASSERT_EQ(run("-q --format srt,json,md -o out/ train.wav question.wav").code, 0);
  ASSERT_EQ(run("-q --format srt,json,md --output-name named train.wav").code, 0);
  for (const char* f : {"srt", "json", "md"}) {
    const std::string name = std::string("train.") + f;
    const outcome alone = run("-q --format " + std::string(f) + " train.wav");
    ASSERT_NE(alone.out, "");
    EXPECT_EQ(read(("out/" + name).c_str()), alone.out);
    EXPECT_EQ(read((std::string("named.") + f).c_str()), alone.out);
    EXPECT_TRUE(fs::exists(dir.path() / "out" / (std::string("question.") + f)));
  }
  expect_refused(run("-q --format srt,json train.wav"), 2, "-o DIR/");
  expect_refused(run("-q --format srt,json -o one.txt train.wav"), 2, "-o DIR/");
  expect_refused(run("-q --format srt,json --output-name both train.wav question.wav"), 2, "-o DIR/");
  expect_refused(run("-q --output-name old -o out/ train.wav"), 2, "--output-name");
  expect_refused(run("-q --format text,vtt --output-name train -m train.txt train.wav"), 1, "train.txt");
  EXPECT_FALSE(fs::exists(dir.path() / "both.srt"));
}

TEST_F(steno_output, a_result_takes_the_place_with_the_rights_of_what_was_there) {
  ASSERT_EQ(::chmod((dir.path() / "old.txt").c_str(), 0600), 0);
  fs::create_symlink("old.txt", dir.path() / "link.txt");
  const std::size_t before = files();
  const outcome plain = run("-q train.wav");
  EXPECT_EQ(run("-q -o link.txt train.wav").code, 0);
  EXPECT_EQ(read("old.txt"), plain.out);
  EXPECT_TRUE(fs::is_symlink(dir.path() / "link.txt"));
  struct stat facts {};
  ASSERT_EQ(::stat((dir.path() / "old.txt").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_LE(files(), before + 2) << "something was left behind";  // .out and .err of the shell
}

TEST_F(steno_output, what_is_read_is_never_overwritten) {
  write("words.txt", "vienna\n");
  write("list.jsonl", "{\"audio\": \"train.wav\"}\n");
  fs::copy(examples / "models" / "whisper.gguf", dir.path() / "model.gguf");
  fs::create_hard_link(dir.path() / "model.gguf", dir.path() / "other-name.gguf");
  const std::string model = read("model.gguf");
  for (const char* output : {"model.gguf", "./model.gguf", "other-name.gguf"})
    expect_refused(run("-m model.gguf -o " + std::string(output) + " train.wav"), 2, "would overwrite the model");
  expect_refused(run("-m model.gguf --hotwords words.txt -o words.txt train.wav"), 2, "the list of hotwords words.txt");
  expect_refused(run("-o question.wav train.wav question.wav"), 2, "would overwrite the input question.wav");
  expect_refused(run("--manifest list.jsonl -o list.jsonl"), 2, "the manifest list.jsonl");
  expect_refused(run("vad -o train.wav train.wav"), 2, "the input train.wav");
  expect_refused(run("align -m model.gguf --text words.txt -o words.txt train.wav"), 2, "the text words.txt");
  fs::create_directory(dir.path() / "folder");
  fs::copy(dir.path() / "model.gguf", dir.path() / "folder" / "config.json");
  expect_refused(run("-m folder -o folder/config.json train.wav"), 2, "would overwrite the model folder");
  EXPECT_EQ(read("model.gguf"), model);
  EXPECT_EQ(read("words.txt"), "vienna\n");
  // A table of one input that would be written over another one.
  fs::copy(dir.path() / "train.wav", dir.path() / "train.txt");
  fs::copy(dir.path() / "question.wav", dir.path() / "talk");
  expect_refused(run("-o ./ train.wav train.txt"), 2, "train");
}

TEST_F(steno_output, devices_and_pipes_are_written_directly) {
  const std::string text = run("-q train.wav").out;
  ASSERT_EQ(::mkfifo((dir.path() / "fifo").c_str(), 0600), 0);
  const outcome o = run("-q -o fifo train.wav & cat fifo; wait $!");
  EXPECT_EQ(o.out, text) << o.err;
  EXPECT_TRUE(fs::is_fifo(dir.path() / "fifo"));
  EXPECT_EQ(run("-q -o /dev/null train.wav").code, 0);
  EXPECT_EQ(run("-q -o /dev/stdout train.wav").out, text);
  EXPECT_EQ(run("-q -o - train.wav").out, text);
  EXPECT_EQ(run("-q -o /dev/full train.wav").code, 1);
}

TEST_F(steno_output, a_closed_or_full_standard_output_is_an_error) {
  for (const char* arguments : {"-q train.wav", "info", "vad -q train.wav", "stream -q --demo u2 train.wav", "--help",
                                "--version", "bench --runs 1 train.wav"}) {
    SCOPED_TRACE(arguments);
    const outcome closed = run(std::string(arguments) + " >&-"), full = run(std::string(arguments) + " >/dev/full");
    EXPECT_EQ(closed.code, 1);
    EXPECT_EQ(closed.err.rfind("steno: standard output: ", 0), 0u) << closed.err;
    EXPECT_EQ(full.code, 1);
    EXPECT_EQ(full.err.rfind("steno: standard output: ", 0), 0u) << full.err;
  }
  EXPECT_EQ(run("-q -o out.txt train.wav >&-").code, 0);
  EXPECT_EQ(run("-q - <&-").err, "steno: standard input: is closed\n");
}

TEST_F(steno_output, an_empty_name_is_refused) {
  for (const char* arguments : {"-m '' train.wav",
                                "--model= train.wav",
                                "info ''",
                                "info -m ''",
                                "--vad '' train.wav",
                                "--hotwords '' train.wav",
                                "-o '' train.wav",
                                "''",
                                "train.wav ''",
                                "--manifest ''",
                                "--punctuate '' train.wav",
                                "--align '' train.wav",
                                "--demo '' train.wav",
                                "--language '' train.wav",
                                "--format '' train.wav",
                                "stream -m '' train.wav",
                                "diarize -m '' train.wav",
                                "diarize -m x --postprocessing '' train.wav",
                                "align -m x --text '' train.wav",
                                "vad -m '' train.wav",
                                "serve -m ''",
                                "serve -m x --host ''",
                                "bench -m '' train.wav"}) {
    SCOPED_TRACE(arguments);
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  expect_refused(run("-m \"$MODEL_THAT_IS_NOT_SET\" train.wav"), 2, "--model: is empty");
  EXPECT_EQ(run("-q --demo whisper --initial-prompt '' train.wav").code, 0);
}

TEST_F(steno_output, several_inputs_in_one_output_are_refused_where_it_does_not_tell_them_apart) {
  for (const char* format : {"srt", "vtt", "tsv"})
    expect_refused(run("--format " + std::string(format) + " train.wav question.wav"), 2, "-o DIR/");
  EXPECT_EQ(run("-q --format srt -o out/ train.wav question.wav").code, 0);
  EXPECT_TRUE(fs::exists(dir.path() / "out/question.srt"));
  EXPECT_EQ(run("-q --format jsonl train.wav question.wav").code, 0);
  fs::copy(dir.path() / "train.wav", dir.path() / "train.flac");
  expect_refused(run("-o out/ train.wav train.flac"), 2, "have one name, train, in the directory out/");
  expect_refused(run("-o out/ --shard 0/2 train.wav train.flac"), 2, "have one name");
}

TEST_F(steno_output, a_toy_says_that_it_is_one) {
  write("noise.raw", std::string(32000, '\1'));
  const std::string toy = "the bundled demo model is a toy";
  EXPECT_EQ(run(std::string("'").append((examples / "audio" / "train.wav").string()).append("'")).err.find(toy),
            std::string::npos);
  for (const char* arguments :
       {"train.wav", "- <noise.raw", "--demo whisper train.wav", "stream --demo u2 train.wav"}) {
    const outcome o = run(arguments);
    EXPECT_NE(o.err.find(toy), std::string::npos) << arguments << o.err;
    EXPECT_EQ(o.err.find(toy), o.err.rfind(toy)) << o.err;
  }
  EXPECT_EQ(run("-q train.wav").err, "");
}

// In every verb, and whatever -q says.
TEST_F(steno_output, a_damaged_input_is_done_with_exit_code_3) {
  const std::string whole = read("train.wav");
  write("cut.wav", whole.substr(0, whole.size() - 20000));
  std::string nan = whole.substr(0, 44);  // a header of 32-bit floats
  nan.replace(20, 2, std::string("\3\0", 2)).replace(32, 4, std::string("\4\0\x20\0", 4));
  for (int i = 0; i < 16000; ++i) nan += std::string("\0\0\xc0\x7f", 4);
  nan.replace(40, 4, std::string("\0\xfa\0\0", 4));
  write("nan.wav", nan);
  const std::string u2 = "stream -q --demo u2 ", compact = std::string("'").append(steno::test::compact().string());
  for (const std::string& verb :
       {std::string("-q "), std::string("vad -q "), u2, "diarize -q -m " + compact + "/sortformer/model.gguf' "})
    for (const char* name : {"cut.wav", "nan.wav", "- <cut.wav", "- <nan.wav"}) {
      SCOPED_TRACE(verb + name);
      const outcome o = run(verb + name);
      EXPECT_EQ(o.code, 3) << o.err;
      EXPECT_EQ(o.err.rfind("steno: warning: ", 0), 0u) << o.err;
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    }
  EXPECT_EQ(run("-q cut.wav none.wav").code, 1);
  EXPECT_EQ(run("-q train.wav").code, 0);
}

TEST_F(steno_output, standard_input_may_be_a_sound_file_or_several_channels) {
  const std::string text = run("-q train.wav").out, whole = read("train.wav");
  EXPECT_EQ(run("-q - <train.wav").out, text);
  std::string stereo;
  for (std::size_t at = 44; at + 1 < whole.size(); at += 2) stereo += whole.substr(at, 2) + whole.substr(at, 2);
  write("stereo.raw", stereo);
  EXPECT_EQ(run("-q --pcm-channels 2 - <stereo.raw").out, text);
  EXPECT_NE(run("-q - <stereo.raw").out, text);
}

TEST_F(steno_output, threads_change_no_stream) {
  for (const char* demo : {"u2", "qwen3-asr"}) {
    const std::string line = "stream -q --demo " + std::string(demo) + " train.wav --threads ";
    const outcome one = run(line + "1"), two = run(line + "2");
    EXPECT_EQ(one.code + two.code, 0) << one.err << two.err;
    EXPECT_EQ(one.out, two.out);
    EXPECT_NE(one.out, "");
  }
}

// The words of the model and its name, replaced by what steers a terminal and breaks lines.
TEST_F(steno_output, results_and_facts_hold_no_control_characters) {
  std::ifstream in(examples / "models" / "demo.gguf", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t word = bytes.find("train"), name = bytes.find("general.name") + 12 + 4 + 8;
  ASSERT_NE(word, std::string::npos);
  bytes.replace(word, 5, std::string("\n\n\x1b\0\x9b", 5));
  bytes.replace(name, 4, "\x1b]0;");
  write("hostile.gguf", bytes);
  const auto controls = [](const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
      if (c >= 0x80 && c < 0xa0 && (i == 0 || static_cast<unsigned char>(text[i - 1]) < 0x80)) return true;
    }
    return false;
  };
  for (const char* arguments :
       {"--format text", "--format json", "--format jsonl", "--format srt", "--format vtt", "--format tsv",
        "--style openai --format srt", "--style openai --format tsv", "--style openai --format json"}) {
    SCOPED_TRACE(arguments);
    const outcome o = run("-q -m hostile.gguf train.wav " + std::string(arguments));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_FALSE(o.out.empty());
    EXPECT_FALSE(controls(o.out)) << o.out;
    if (o.out.find("-->") == std::string::npos) continue;
    // Behind an empty line stands a cue or nothing.
    for (std::size_t at = o.out.find("\n\n"); at != std::string::npos && at + 2 < o.out.size();
         at = o.out.find("\n\n", at + 2)) {
      const std::string cue = o.out.substr(at + 2, o.out.find("\n\n", at + 2) - at - 2);
      EXPECT_NE(cue.find("-->"), std::string::npos) << o.out;
    }
  }
  for (const char* arguments : {"info hostile.gguf", "info --format json hostile.gguf"}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_FALSE(controls(o.out)) << o.out;
    EXPECT_NE(o.out.find("]0;"), std::string::npos) << o.out;
  }
  const outcome o = run("\"$(printf 'none\\033[2J\\302\\233.wav')\"");
  EXPECT_FALSE(controls(o.err)) << o.err;
  EXPECT_EQ(o.err, "steno: none\\x1b[2J\\xc2\\x9b.wav: No such file or directory\n");
}

}  // namespace steno_output_test
