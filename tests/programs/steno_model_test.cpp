// steno with a model: the public SenseVoiceSmall case, from the folder as published.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace steno_model_test {

using nlohmann::json;
using steno::test::outcome;

class steno_with_model : public testing::Test {
 protected:
  void SetUp() override {
    STENO_REQUIRE_SHARED(shared);
    folder = (shared / "golden" / "funasr" / "sensevoice").string();
  }
  outcome run(const std::string& before, const std::string& arguments) {
    return steno::test::shell(dir, "model='" + folder + "/checkpoint'; wav='" + folder +
                                       "/input.wav'; steno='" STENO_PROGRAM "'; " + before +
                                       " \"$steno\" -m \"$model\" --threads 2 " + arguments);
  }
  json expected() { return json::parse(std::ifstream(folder + "/expected.json")); }
  std::string contents(const char* name) {
    std::ostringstream text;
    text << std::ifstream(dir.path() / name).rdbuf();
    return text.str();
  }
  steno::test::temporary_directory dir;
  std::string folder;
};

TEST_F(steno_with_model, writes_the_documented_json) {
  const outcome o = run("", "--format json \"$wav\"");
  ASSERT_EQ(o.code, 0) << o.err;
  const json r = json::parse(o.out);
  EXPECT_EQ(r["model"], "sense_voice");
  EXPECT_EQ(r["audio"], folder + "/input.wav");
  EXPECT_EQ(r["duration"], 11.0);
  ASSERT_EQ(r["segments"].size(), 1u);
  EXPECT_EQ(r["segments"][0]["token_ids"], expected()["token_ids"]);
  EXPECT_EQ(r["segments"][0]["speaker"], nullptr);
  double last = 0;
  for (const json& w : r["segments"][0]["words"]) {
    EXPECT_EQ(w["timing"], "native");
    EXPECT_GE(w["start"], last);
    EXPECT_GE(w["end"], w["start"]);
    last = w["start"];
  }
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\r'), 0) << "a progress bar without a terminal";
}

TEST_F(steno_with_model, raw_pcm_and_the_file_say_the_same) {
  const outcome file = run("", "-q \"$wav\""),
                pipe = run("tail -c 352000 \"$wav\" |", "-q --pcm-format s16le --pcm-rate 16000 -");
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_EQ(pipe.code, 0) << pipe.err;
  EXPECT_EQ(file.err, "");
  EXPECT_NE(file.out, "\n");
  EXPECT_EQ(pipe.out, file.out);
}

TEST_F(steno_with_model, a_bad_file_between_good_ones) {
  const outcome o = run("", "-q -o out/ --format jsonl \"$wav\" none.wav");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err, "steno: none.wav: No such file or directory\nsteno: 1 of 2 files failed\n");
  EXPECT_EQ(json::parse(contents("out/input.jsonl"))["language"], "en");
}

TEST_F(steno_with_model, refuses_what_it_cannot_do) {
  const outcome language = run("", "--language xx \"$wav\""), patience = run("", "--patience 2 \"$wav\"");
  EXPECT_EQ(language.code, 2);
  EXPECT_NE(language.err.find("this model knows auto, zh, en"), std::string::npos) << language.err;
  EXPECT_EQ(patience.code, 2);
  EXPECT_NE(patience.err.find("--patience"), std::string::npos) << patience.err;
}

TEST_F(steno_with_model, a_signal_ends_it_with_143_and_says_so) {
  // The second input is a pipe that nobody closes, so the signal finds the program waiting for it.
  const outcome o = run(
      "mkfifo p; sleep 60 > p & sleeper=$!;",
      "-q -o out.txt \"$wav\" - < p & pid=$!; for i in $(seq 300); do cat out.txt.part-* 2> /dev/null | grep -q . && "
      "break; sleep 0.1; done; "
      "kill -TERM $pid; wait $pid; code=$?; kill $sleeper; exit $code");
  EXPECT_EQ(o.code, 143);
  EXPECT_NE(o.err.find("interrupted: 1 of 2 files are done"), std::string::npos) << o.err;
  EXPECT_EQ(contents("out.txt"), run("", "-q \"$wav\"").out);
}

TEST_F(steno_with_model, info_and_bench) {
  const outcome facts = steno::test::shell(dir, "'" STENO_PROGRAM "' info --format json '" + folder + "/checkpoint'");
  ASSERT_EQ(facts.code, 0) << facts.err;
  const json f = json::parse(facts.out);
  EXPECT_EQ(f["architecture"], "sense_voice");
  EXPECT_EQ(f["sample_rate"], 16000);
  EXPECT_EQ(f["vocabulary"], 170);
  EXPECT_GT(f["parameters"], 0);
  EXPECT_FALSE(f.contains("stream_delay"));
  const outcome own_stream = steno::test::shell(dir, "'" STENO_PROGRAM "' info --format json --demo u2");
  EXPECT_DOUBLE_EQ(json::parse(own_stream.out)["stream_delay"], 0.7);
  EXPECT_NE(steno::test::shell(dir, "'" STENO_PROGRAM "' info --demo u2").out.find("stream delay   0.70 s"),
            std::string::npos);
  const outcome bench = steno::test::shell(
      dir, "'" STENO_PROGRAM "' bench --runs 2 -m '" + folder + "/checkpoint' '" + folder + "/input.wav'");
  EXPECT_EQ(bench.code, 0) << bench.err;
  for (const char* part : {"load ", "     1 ", "     2 ", "median", "peak"})
    EXPECT_NE(bench.out.find(part), std::string::npos) << bench.out;
}

}  // namespace steno_model_test
