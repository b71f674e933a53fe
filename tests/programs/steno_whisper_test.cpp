// steno with Whisper: options under openai's names, and outputs byte for byte as the original's writers print them.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace steno_whisper_test {

using nlohmann::json;
using steno::test::outcome;

class steno_whisper : public testing::Test {
 protected:
  void SetUp() override {
    STENO_REQUIRE_SHARED(shared);
    folder = (shared / "golden" / "whisper" / "v3").string();
  }
  outcome run(const std::string& arguments) {
    return steno::test::shell(dir, "wav='" + folder + "/input.wav'; '" STENO_PROGRAM "' -m '" + folder +
                                       "/checkpoint/hf' --threads 2 -q --temperature 0 " + arguments);
  }
  std::string golden(const char* name) {
    std::ostringstream text;
    text << std::ifstream(folder + "/writers/" + name).rdbuf();
    return text.str();
  }
  json expected(const char* name) { return json::parse(std::ifstream(folder + "/expected.json"))["transcribe"][name]; }

  steno::test::temporary_directory dir;
  std::string folder;
};

TEST_F(steno_whisper, writes_what_the_original_writes) {
  for (const auto& [format, file] : {std::pair("txt", "plain.txt"), std::pair("srt", "plain.srt"),
                                     std::pair("vtt", "plain.vtt"), std::pair("tsv", "plain.tsv")}) {
    const outcome o = run(std::string("\"$wav\" --format ") + format);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, golden(file)) << format;
  }
  for (const char* format : {"srt", "vtt"}) {
    const std::string to = std::string("\"$wav\" --word_timestamps True --format ") + format;
    EXPECT_EQ(run(to + " --max_line_width 30 --max_line_count 2").out,
              golden((std::string("words.") + format).c_str()));
    EXPECT_EQ(run(to + " --highlight_words True").out, golden((std::string("highlight.") + format).c_str()));
  }
}

TEST_F(steno_whisper, json_tells_words_and_windows) {
  const outcome o = run("\"$wav\" --word-timestamps --format json");
  ASSERT_EQ(o.code, 0) << o.err;
  const json r = json::parse(o.out);
  json want = expected("word_timestamps");
  std::erase_if(want["segments"].get_ref<json::array_t&>(),
                [](const json& s) { return s["tokens"].empty(); });  // not shown
  EXPECT_EQ(r["model"], "whisper");
  EXPECT_EQ(r["language"], want["language"]);
  ASSERT_EQ(r["segments"].size(), want["segments"].size());
  for (std::size_t i = 0; i < want["segments"].size(); ++i) {
    EXPECT_EQ(r["segments"][i]["token_ids"], want["segments"][i]["tokens"]);
    EXPECT_EQ(r["segments"][i]["extra"]["stop"], "end_of_text");
    EXPECT_EQ(r["segments"][i]["extra"]["fallbacks"], 0.0);
    ASSERT_EQ(r["segments"][i]["words"].size(), want["segments"][i]["words"].size());
    for (const json& w : r["segments"][i]["words"]) EXPECT_EQ(w["timing"], "native");
  }
  const json windows = r["extra"]["windows"];
  ASSERT_FALSE(windows.empty());
  EXPECT_EQ(windows[0]["start"], 0.0);
  for (const json& w : windows) EXPECT_EQ(w["outcome"], "text");
  const outcome openai = run("\"$wav\" --style openai --format json");
  const json original = json::parse(openai.out);
  EXPECT_EQ(original["text"], expected("default_t0")["text"]);
  EXPECT_EQ(original["segments"][0]["tokens"], expected("default_t0")["segments"][0]["tokens"]);
}

TEST_F(steno_whisper, options_reach_the_decoder) {
  const auto ids = [&](const std::string& arguments) {
    const outcome o = run("\"$wav\" --format json " + arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    std::vector<std::vector<int>> all;
    const json r = o.code == 0 ? json::parse(o.out) : json();
    if (r.is_object())
      for (const json& s : r["segments"]) all.push_back(s["token_ids"]);
    EXPECT_FALSE(all.empty());
    return all;
  };
  const auto want = [&](const char* name) {
    std::vector<std::vector<int>> all;
    const json r = expected(name);
    for (const json& s : r["segments"])
      if (!s["tokens"].empty()) all.push_back(s["tokens"]);
    EXPECT_FALSE(all.empty());
    return all;
  };
  EXPECT_EQ(ids("--beam-size 5"), want("beam5"));
  EXPECT_EQ(ids("--no-condition-on-previous-text"), want("no_condition"));
  EXPECT_EQ(ids("--condition_on_previous_text False"), want("no_condition"));
  EXPECT_EQ(ids("--initial_prompt 'Hello world, this is a test.'"), want("initial_prompt"));
  EXPECT_EQ(ids("--clip-timestamps 5,20"), want("clip_5_20"));
  EXPECT_EQ(ids("--without-timestamps"), want("without_timestamps"));
  EXPECT_EQ(ids("--no-speech-threshold none --logprob-threshold none --compression-ratio-threshold none"),
            want("no_thresholds"));
  EXPECT_NE(ids("--translate"), want("default_t0"));
}

TEST_F(steno_whisper, wrong_options_are_refused) {
  EXPECT_EQ(run("\"$wav\" --task sing").code, 2);
  EXPECT_EQ(run("\"$wav\" --logprob-threshold low").code, 2);
  EXPECT_EQ(run("\"$wav\" --language klingon").code, 2);
  EXPECT_EQ(run("\"$wav\" --style latex").code, 2);
  const outcome demo =
      steno::test::shell(dir, "'" STENO_PROGRAM "' --best-of 3 '" STENO_SOURCE_DIR "/examples/audio/train.wav'");
  EXPECT_EQ(demo.code, 2);
  EXPECT_NE(demo.err.find("--best-of"), std::string::npos) << demo.err;
}

// openai's files have none: it is named, or a message says how. All programs say the same of what is no checkpoint.
TEST_F(steno_whisper, the_tokenizer_of_openais_files_may_be_named) {
  const std::filesystem::path shared = *steno::test::shared();
  const std::string pt = (shared / "golden/whisper/multi/checkpoint/openai/model.pt").string();
  const std::string table = (shared / "assets/whisper/multilingual.tiktoken").string();
  const auto info = [&](const std::string& arguments) {
    return steno::test::shell(dir, "HOME=/nowhere '" STENO_PROGRAM "' info -m " + arguments);
  };
  outcome o = info(pt + " --tokenizer " + table);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("whisper"), std::string::npos);
  o = info(pt + " --tokenizer /nowhere");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("/nowhere"), std::string::npos) << o.err;
  std::ofstream(dir.path() / "model.onnx") << "?";
  o = info("model.onnx");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(o.err.starts_with("steno: model.onnx: an ONNX model")) << o.err;
  EXPECT_EQ(o.err.find('\n'), o.err.size() - 1);
#ifdef STENO_TRACE_PROGRAM
  o = steno::test::shell(dir, "'" STENO_TRACE_PROGRAM "' -m model.onnx none.wav -o out");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(o.err.starts_with("steno-trace: model.onnx: an ONNX model")) << o.err;
#endif
}

}  // namespace steno_whisper_test
