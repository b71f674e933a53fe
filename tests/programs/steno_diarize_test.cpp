// steno diarize: formats, standard input, settings, what goes wrong.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "programs/run_program.hpp"
#include "support/speech.hpp"

#include <gtest/gtest.h>

namespace steno_diarize_test {

using nlohmann::json;
using steno::test::outcome;

class steno_diarize : public testing::Test {
 protected:
  outcome run(const std::string& arguments) const {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' diarize " + arguments);
  }
  void expect_error(const std::string& arguments, int code, const std::string& part) const {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(dir.path() / name, std::ios::binary) << text;
  }
  // Segments as (start, end, speaker).
  std::vector<std::tuple<double, double, std::string>> segments(const std::string& arguments) const {
    const outcome o = run("-q --format json " + model + arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    std::vector<std::tuple<double, double, std::string>> all;
    const json found = json::parse(o.out);
    for (const json& s : found["segments"]) all.emplace_back(s["start"], s["end"], s["speaker"]);
    return all;
  }
  const std::string talk = std::string(STENO_SOURCE_DIR) + "/examples/audio/shopping.wav ";
  const std::string model = "-m '" + (steno::test::compact() / "sortformer" / "model.gguf").string() + "' ";
  steno::test::temporary_directory dir;
};

TEST_F(steno_diarize, formats_tell_the_same) {
  const outcome object = run("-q --format json " + model + talk);
  ASSERT_EQ(object.code, 0) << object.err;
  EXPECT_EQ(object.err, "");
  const json found = json::parse(object.out);
  EXPECT_EQ(found["model"], "sortformer");
  EXPECT_EQ(found["text"], "");
  ASSERT_GT(found["segments"].size(), 2u);
  std::string text, rttm;
  for (const json& s : found["segments"]) {
    char line[200];
    const double start = s["start"], end = s["end"];
    const std::string who = s["speaker"];
    std::snprintf(line, sizeof line, "%.3f\t%.3f\t%s\n", start, end, who.c_str());
    text += line;
    std::snprintf(line, sizeof line, "SPEAKER shopping 1 %.3f %.3f <NA> <NA> %s <NA> <NA>\n", start, end - start,
                  who.c_str());
    rttm += line;
  }
  EXPECT_EQ(run("-q " + model + talk).out, text);
  EXPECT_EQ(run("-q --format rttm " + model + talk).out, rttm);
  const std::string lines = run("-q --format jsonl " + model + talk).out;
  EXPECT_EQ(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')), found["segments"].size());
  // As they settle, which is mostly the order of their ends.
  std::vector<json> settled;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    json s = json::parse(line);
    s.erase("audio");
    s.erase("language");
    settled.push_back(s);
  }
  std::stable_sort(settled.begin(), settled.end(), [](const json& a, const json& b) {
    return std::pair(a["start"].get<double>(), a["speaker"].get<std::string>()) <
           std::pair(b["start"].get<double>(), b["speaker"].get<std::string>());
  });
  EXPECT_EQ(json(settled), found["segments"]);
}

// What is settled is written while the pipe is open.
TEST_F(steno_diarize, lines_come_while_it_listens) {
  const auto pcm = steno::test::load_wav(std::string(STENO_SOURCE_DIR) + "/examples/audio/shopping.wav").pcm;
  std::string raw;
  for (int round = 0; round < 4; ++round)
    for (const float x : pcm) {
      const auto v = static_cast<std::int16_t>(std::lrint(x * 32768));
      raw.append(reinterpret_cast<const char*>(&v), sizeof v);
    }
  write("talk.raw", raw);
  for (const char* format : {"text", "rttm", "jsonl"}) {
    const std::string options = "-q --chunk-len 10 --format " + std::string(format) + " " + model + " - ";
    const std::string whole = run(options + "< talk.raw").out;
    // The pipe stays open until something is there.
    const outcome o = steno::test::shell(
        dir,
        "rm -f out; { cat talk.raw; for i in $(seq 300); do test -s out && break; sleep 0.1; done; test -s out && "
        "cp out early; } | '" STENO_PROGRAM "' diarize " +
            options + "> out; cat out; test -s early");
    EXPECT_EQ(o.code, 0) << format << o.err;
    EXPECT_EQ(o.out, whole) << format;
    ASSERT_EQ(steno::test::shell(dir, "rm early").code, 0);
  }
}

TEST_F(steno_diarize, standard_input_and_threads) {
  const auto want = segments("--threads 1 " + talk);
  EXPECT_EQ(segments("--threads 3 " + talk), want);
  const auto pcm = steno::test::load_wav(std::string(STENO_SOURCE_DIR) + "/examples/audio/shopping.wav").pcm;
  std::string raw;
  for (const float x : pcm) {
    const auto v = static_cast<std::int16_t>(std::lrint(x * 32768));
    raw.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  write("talk.raw", raw);
  EXPECT_EQ(segments("- < talk.raw"), want);
}

TEST_F(steno_diarize, settings_of_segments_and_of_streams) {
  const auto usual = segments(talk);
  const auto longer = segments("--min-duration-on 0.1 " + talk);
  EXPECT_LT(longer.size(), usual.size());
  for (const auto& [start, end, who] : longer) EXPECT_GE(end - start, 0.099) << who;
  write("post.yaml", "parameters:\n  onset: 0.8\n  min_duration_on: 0.1\n");
  const auto from_file = segments("--postprocessing post.yaml " + talk);
  EXPECT_EQ(from_file, segments("--onset 0.8 --min-duration-on 0.1 " + talk));
  EXPECT_NE(from_file, longer);
  EXPECT_EQ(segments("--postprocessing post.yaml --onset 0.5 " + talk), longer);  // what is given goes before the file
  EXPECT_NE(segments("--chunk-len 20 " + talk), usual);
}

TEST_F(steno_diarize, one_that_fails_does_not_stop_the_others) {
  write("broken.wav", "RIFF");
  const outcome o = run("-q --format jsonl -o out/ " + model + "broken.wav " + talk);
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("broken.wav"), std::string::npos) << o.err;
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "out" / "shopping.jsonl"));
}

TEST_F(steno_diarize, what_goes_wrong_is_said) {
  write("post.yaml", "parameters:\n  onset: much\n");
  write("list.yaml", "- 1\n");
  expect_error(model + talk + "--postprocessing post.yaml", 1, "post.yaml");
  expect_error(model + talk + "--postprocessing list.yaml", 1, "list.yaml");
  expect_error(model + talk + "--postprocessing none.yaml", 1, "none.yaml");
  expect_error(model + talk + "--spkcache-len 3", 1, "spkcache_len: expected 16");
  expect_error(model + talk + "--chunk-len x", 2, "--chunk-len");
  expect_error(model + "none.wav", 1, "none.wav: No such file");
  expect_error("-m '" + (steno::test::compact() / "fsmn_vad" / "model.gguf").string() + "' " + talk, 1, "sortformer");
}

// Every model can be looked at, also one that is no transcriber's.
TEST_F(steno_diarize, info_and_other_verbs) {
  const outcome facts = steno::test::shell(dir, "'" STENO_PROGRAM "' info --format json " + model);
  ASSERT_EQ(facts.code, 0) << facts.err;
  const json found = json::parse(facts.out);
  EXPECT_EQ(found["architecture"], "sortformer");
  EXPECT_EQ(found["sample_rate"], 16000);
  EXPECT_EQ(found["settings"]["sortformer.streaming.spkcache_len"], "80");
  const outcome words = steno::test::shell(dir, "'" STENO_PROGRAM "' transcribe " + model + talk);
  EXPECT_EQ(words.code, 1);
  EXPECT_NE(words.err.find("this model transcribes nothing by itself"), std::string::npos) << words.err;
}

}  // namespace steno_diarize_test
