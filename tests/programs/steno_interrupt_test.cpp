// SIGINT and SIGTERM end the input: what was heard is finished and written, and the exit code tells of the signal.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace steno_interrupt_test {

namespace fs = std::filesystem;
using steno::test::running_program;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

// The samples of a bundled recording: 16 kHz, 16 bits, one channel.
std::string samples(const char* name) {
  std::ifstream in(examples / "audio" / name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return bytes.substr(bytes.find("data") + 8);
}
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class steno_interrupted : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const nlohmann::json all = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
    for (const nlohmann::json& sample : all)
      if (sample["file"] == "train.wav") text = sample["text"];
  }
  std::string text;
  const steno::test::temporary_directory dir;
};

// The pipe stays open: only the signal ends the input.
TEST_P(steno_interrupted, a_stream_writes_what_was_said) {
  running_program steno("'" STENO_PROGRAM "' stream --demo u2 --chunk-size 4 --format jsonl -");
  steno.write(samples("train.wav"));
  ASSERT_TRUE(steno.says("\"partial\"")) << steno.err;
  const std::string last = text.substr(text.rfind(' ') + 1);
  ASSERT_TRUE(steno.says(last)) << steno.out;  // all of it was heard
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  const std::string line = steno.out.substr(steno.out.find("{\"type\":\"final\""));
  EXPECT_EQ(nlohmann::json::parse(line.substr(0, line.find('\n')))["text"], text);
  EXPECT_NE(steno.err.find("interrupted after 0:0"), std::string::npos) << steno.err;
}

// Models that recognise segments: the open one is recognised to its end.
TEST_P(steno_interrupted, a_stream_of_any_model_keeps_everything) {
  for (const char* demo : {"sense-voice", "paraformer", "whisper", "parakeet-ctc", "parakeet-tdt", "parakeet-eou",
                           "qwen3-asr", "fun-asr-nano", "paraformer-online", "u2 --by-segments"}) {
    running_program steno("'" STENO_PROGRAM "' stream --format jsonl - --demo " + std::string(demo));
    const std::string silence(64000, '\0');
    steno.write(silence + samples("train.wav"));
    steno.write(silence.substr(0, 12800) + samples("train.wav"));  // more than fits into a pipe: the first is read
    steno.send(GetParam());
    EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
    std::string said;
    std::istringstream lines(steno.out);
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json e = nlohmann::json::parse(line);
      if (e["type"] == "final" && e["text"] != "") said += (said.empty() ? "" : " ") + e["text"].get<std::string>();
    }
    EXPECT_EQ(said.rfind(text, 0), 0u) << demo << ": " << said;
  }
}

TEST_P(steno_interrupted, a_transcript_of_what_was_said_gets_its_place) {
  const fs::path out = dir.path() / "out.json";
  running_program steno("'" STENO_PROGRAM "' --demo parakeet-ctc --max-clip-seconds 1 --format jsonl -");
  steno.write(samples("train.wav"));
  ASSERT_TRUE(steno.says("\n")) << steno.err;
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam());
  EXPECT_NE(steno.err.find("interrupted: 0 of 1 files are done"), std::string::npos) << steno.err;
  std::istringstream lines(steno.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(nlohmann::json::parse(line, nullptr, false).is_object()) << line;
}

TEST_P(steno_interrupted, a_whole_format_is_whole_and_says_where_it_ends) {
  const fs::path out = dir.path() / "out.json";
  running_program steno("'" STENO_PROGRAM "' --vad energy --format json -o '" + out.string() + "' -");
  std::string silence(64000, '\0');
  steno.write(samples("train.wav") + silence + silence);
  steno.write(samples("train.wav") + silence);  // more than fits into a pipe: the first is read when this returns
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  const nlohmann::json r = nlohmann::json::parse(contents(out), nullptr, false);
  ASSERT_TRUE(r.is_object()) << contents(out);
  EXPECT_EQ(r["text"].get<std::string>().rfind(text, 0), 0u) << r.dump();
  EXPECT_EQ(r["extra"]["interrupted_at"], r["duration"]);
  EXPECT_GT(r["duration"].get<double>(), 4.0);
}

TEST_P(steno_interrupted, vad_ends_its_last_segment) {
  running_program steno("'" STENO_PROGRAM "' vad --format jsonl -");
  const std::string silence(64000, '\0');
  steno.write(silence + samples("train.wav") + silence + samples("train.wav"));
  ASSERT_TRUE(steno.says("\n")) << steno.err;
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  EXPECT_NE(steno.err.find("what was found is written"), std::string::npos) << steno.err;
}

TEST_P(steno_interrupted, diarize_tells_who_spoke) {
  running_program steno("'" STENO_PROGRAM "' diarize --format json -m '" +
                        (steno::test::compact() / "sortformer" / "model.gguf").string() + "' -");
  steno.write(samples("train.wav") + samples("train.wav"));  // more than fits into a pipe
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  const nlohmann::json r = nlohmann::json::parse(steno.out, nullptr, false);
  ASSERT_TRUE(r.is_object()) << steno.out;
  EXPECT_EQ(r["extra"]["interrupted_at"], r["duration"]);
}

TEST_P(steno_interrupted, align_places_the_words_in_what_was_read) {
  std::ofstream(dir.path() / "said.txt") << "the train";
  running_program steno("'" STENO_PROGRAM "' align -m '" +
                        (steno::test::compact() / "qwen3_aligner" / "model.gguf").string() + "' --text '" +
                        (dir.path() / "said.txt").string() + "' -");
  steno.write(samples("train.wav"));
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  EXPECT_EQ(std::count(steno.out.begin(), steno.out.end(), '\n'), 2) << steno.out;
}

// Nobody writes to the fifo, or somebody opens it and keeps silent.
TEST_P(steno_interrupted, a_fifo_without_a_writer_is_not_waited_for) {
  const fs::path fifo = dir.path() / "talk.wav";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  running_program steno("'" STENO_PROGRAM "' vad '" + fifo.string() + "'");
  // It reads the fifo's other end as soon as it listens.
  const int writer = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  steno.send(GetParam());
  EXPECT_EQ(steno.wait(), 128 + GetParam()) << steno.err;
  ::close(writer);
}

INSTANTIATE_TEST_SUITE_P(signals, steno_interrupted, testing::Values(SIGINT, SIGTERM),
                         [](const auto& tested) { return tested.param == SIGINT ? "sigint" : "sigterm"; });

// A model that is busy finishing does not keep the program: many seconds of speech are waiting in the pipe's reader.
TEST(steno_interrupted_twice, ends_at_once) {
  running_program steno("'" STENO_PROGRAM "' stream --demo u2 --real-time --format jsonl '" +
                        (examples / "audio" / "train.wav").string() + "'");
  ASSERT_TRUE(steno.says("\"partial\"")) << steno.err;
  steno.send(SIGINT);
  steno.send(SIGTERM);
  const int code = steno.wait();
  EXPECT_TRUE(code == 130 || code == 143) << code;
}

TEST(steno_interrupted_early, leaves_what_was_there) {
  const steno::test::temporary_directory dir;
  std::ofstream(dir.path() / "out.txt") << "an old transcript\n";
  running_program steno("'" STENO_PROGRAM "' -o '" + (dir.path() / "out.txt").string() + "' -");
  steno.send(SIGTERM);  // perhaps before the model is loaded, perhaps while it waits for sound
  const int code = steno.wait();
  EXPECT_EQ(code, 143);
  EXPECT_EQ(contents(dir.path() / "out.txt"), "an old transcript\n");
}

}  // namespace steno_interrupt_test
