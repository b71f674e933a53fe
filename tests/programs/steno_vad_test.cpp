// steno vad: detectors, formats, standard input, what goes wrong.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/onnx_case.hpp"
#include "support/speech.hpp"

namespace steno_vad_test {

using nlohmann::json;
using steno::test::outcome;

constexpr double pauses[] = {1, 2};

class steno_vad : public testing::Test {
 protected:
  steno_vad() : talk(steno::test::joined_utterances(3, pauses)) {
    write_raw("talk.raw", talk.pcm);
    write_raw("silence.raw", std::vector<float>(32000));
  }
  void write_raw(const char* name, const std::vector<float>& pcm) const {
    std::vector<std::int16_t> samples;
    for (const float x : pcm) samples.push_back(static_cast<std::int16_t>(std::lrint(x * 32767)));
    std::ofstream(dir.path() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * 2));
  }
  std::string contents(const char* name) const {
    std::ostringstream text;
    text << std::ifstream(dir.path() / name, std::ios::binary).rdbuf();
    return text.str();
  }
  outcome run(const std::string& arguments) const {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' vad " + arguments);
  }
  void expect_error(const std::string& arguments, int code, const std::string& part) const {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  const std::string examples = std::string(STENO_SOURCE_DIR) + "/examples/audio/";
  const std::string model = "--vad '" + (steno::test::compact() / "fsmn_vad" / "model.gguf").string() + "' ";
  steno::test::temporary_directory dir;
  steno::test::conversation talk;
};

TEST_F(steno_vad, finds_the_sentences_of_a_recording_on_standard_input) {
  const outcome o = run("-q --format json - < talk.raw");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  const json found = json::parse(o.out);
  EXPECT_EQ(found["model"], "energy_vad");
  EXPECT_EQ(found["audio"], "-");
  EXPECT_NEAR(found["duration"].get<double>(), static_cast<double>(talk.pcm.size()) / 16000, 0.001);
  ASSERT_EQ(found["segments"].size(), talk.truth.size());
  for (std::size_t i = 0; i < talk.truth.size(); ++i) {
    EXPECT_NEAR(found["segments"][i]["start"].get<double>(), talk.truth[i].first, 0.15);
    EXPECT_NEAR(found["segments"][i]["end"].get<double>(), talk.truth[i].second, 0.15);
  }
  EXPECT_EQ(run("-q --format jsonl --vad energy - < silence.raw").out, "");
}

// A segment is written when its end is known, not when the input has ended: the text grows beside its name.
TEST_F(steno_vad, writes_while_it_listens) {
  const outcome o =
      steno::test::shell(dir, "mkfifo pipe && { '" STENO_PROGRAM
                              "' vad -q -o found.txt - < pipe & } && exec 3>pipe && cat talk.raw >&3 && "
                              "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
                              "[ $(cat found.txt.part-* 2>/dev/null | wc -l) -ge 2 ] && break; sleep 0.2; done; "
                              "cp found.txt.part-* early.txt; exec 3>&-; wait");
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string early = contents("early.txt"), all = contents("found.txt");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3);
  EXPECT_GE(std::count(early.begin(), early.end(), '\n'), 2);
  EXPECT_EQ(all.rfind(early, 0), 0u);
}

TEST_F(steno_vad, a_model_and_its_settings) {
  const outcome plain = run("-q " + model + "--format json - < talk.raw");
  ASSERT_EQ(plain.code, 0) << plain.err;
  const json found = json::parse(plain.out);
  EXPECT_EQ(found["model"], "fsmn_vad");
  EXPECT_FALSE(found["segments"].empty());
  const outcome cut = run("-q " + model + "--min-silence 200 --max-segment 1 --format json - < talk.raw");
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_GT(json::parse(cut.out)["segments"].size(), found["segments"].size());
  EXPECT_NE(run("-q " + model + "--threshold 0.999 - < talk.raw").out, run("-q " + model + "- < talk.raw").out);
}

// whisper.cpp's file and the original's ONNX file, with all settings; and where else a detector is named.
TEST_F(steno_vad, silero_files_as_they_are_published) {
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(dir.path() / name, std::ios::binary) << bytes;
  };
  write("silero.bin", steno::test::silero_ggml(steno::test::silero_tensors(16000, 5, {8, 6, 4, 12}, 4)));
  write("silero.safetensors", steno::test::safetensors(steno::test::silero_tensors(16000, 5, {8, 6, 4, 12}, 4), ""));
  write("silero.onnx", steno::test::silero_onnx());
  const std::string settings =
      "--threshold 0.4 --neg-threshold 0.3 --min-speech 64 --min-silence 96 --pad 32 --max-segment 5 --format json ";
  for (const char* file : {"silero.bin", "silero.safetensors", "silero.onnx"}) {
    const outcome o = run("-q --vad " + std::string(file) + " " + settings + "- < talk.raw");
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(json::parse(o.out)["model"], "silero_vad");
    EXPECT_FALSE(json::parse(o.out)["segments"].empty()) << file;
  }
  expect_error("-q --vad silero.bin --threshold 2 - < talk.raw", 2, "--threshold: expected 0 to 1");
  expect_error(model + "--pad 10 - < talk.raw", 2, "--pad: FSMN-VAD has no such setting");
  const auto steno = [&](const std::string& arguments) {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments);
  };
  const std::string speech = " --vad-threshold 0.3 --vad-min-silence 300 '" + examples + "train.wav'";
  EXPECT_EQ(steno("transcribe -q --vad silero.safetensors" + speech).code, 0);
  EXPECT_EQ(steno("transcribe -q" + speech).code, 2);
  const outcome live = steno("stream -q --demo sense-voice --format jsonl --vad silero.safetensors" + speech);
  EXPECT_EQ(live.code, 0) << live.err;
  EXPECT_NE(live.out.find("speech_start"), std::string::npos) << live.out;
}

TEST_F(steno_vad, many_files_share_an_output_or_have_one_each) {
  const std::string two = "'" + examples + "question.wav' '" + examples + "train.wav'";
  outcome o = run("-q " + two);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.rfind(examples + "question.wav\t0.000\t", 0), 0u) << o.out;
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 2);
  o = run("-q --format rttm -o out/ " + two + " - < silence.raw");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
  EXPECT_EQ(contents("out/question.rttm").rfind("SPEAKER question 1 0.000 ", 0), 0u);
  EXPECT_EQ(contents("out/train.rttm").rfind("SPEAKER train 1 0.000 ", 0), 0u);
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "out/stdin.rttm"));  // silence: nothing in it
  EXPECT_EQ(contents("out/stdin.rttm"), "");
}

TEST_F(steno_vad, one_bad_file_does_not_stop_the_others) {
  const outcome o = run("-q none.wav '" + examples + "train.wav'");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1);
  EXPECT_NE(o.err.find("steno: none.wav: No such file or directory\n"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("1 of 2 files failed"), std::string::npos) << o.err;
}

TEST_F(steno_vad, what_goes_wrong_is_one_line) {
  expect_error("", 2, "no AUDIO given");
  expect_error("a.wav --format srt", 2, "unknown format srt (vad writes text, json, jsonl and rttm)");
  expect_error("a.wav --min-silence 5", 2, "--min-silence");
  expect_error("a.wav --threshold loud", 2, "--threshold loud: expected a number");
  expect_error("--threshold 0.5 - < talk.raw", 2, "--threshold: expected 1 to 100 dB");
  expect_error(model + "--threshold 10 - < talk.raw", 2, "--threshold: expected -1 to 1");
  expect_error("none.wav", 1, "steno: none.wav: No such file or directory");
  expect_error("--vad none.gguf - < talk.raw", 1, "none.gguf");
  expect_error("--vad '" + (steno::test::compact() / "sensevoice" / "model.gguf").string() + "' - < talk.raw", 1,
               "no voice activity detector");
  expect_error("-o no/such/out.txt - < talk.raw", 1, "no/such/out.txt: cannot write");
  if (std::filesystem::exists("/dev/full")) expect_error("-q -o /dev/full - < talk.raw", 1, "/dev/full: cannot write");
  std::filesystem::copy(examples + "train.wav", dir.path() / "train.wav");
  expect_error("train.wav -o train.wav", 2, "would overwrite the input");
}

}  // namespace steno_vad_test
