// What the programs write as JSON, against the schema in docs/json.md: every bundled model, every format that is JSON.
// SPDX-License-Identifier: Apache-2.0
#include "programs/run_program.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace steno_json_test {

using nlohmann::json;
using adapter = valijson::adapters::NlohmannJsonAdapter;

const std::string source = STENO_SOURCE_DIR, train = " '" STENO_SOURCE_DIR "/examples/audio/train.wav'";

// The block of docs/json.md, with one of its definitions at the top.
json schema_of(const std::string& definition) {
  std::ostringstream text;
  text << std::ifstream(source + "/docs/json.md").rdbuf();
  const std::string page = text.str(), mark = "```json\n";
  const std::size_t from = page.find(mark) + mark.size();
  json all = json::parse(page.substr(from, page.find("```", from) - from));
  EXPECT_TRUE(all["definitions"].contains(definition)) << definition;
  all["allOf"] = json::array({{{"$ref", std::string("#/definitions/").append(definition)}}});
  return all;
}

std::string problems(const std::string& definition, const json& value) {
  const json text = schema_of(definition);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(adapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, adapter(value), &results)) return "";
  std::string all("is no ");
  all.append(definition).append(":");
  for (valijson::ValidationResults::Error e; results.popError(e);) {
    for (const std::string& c : e.context) all += c;
    all.append(" ").append(e.description).append(";");
  }
  return all;
}

std::string demo(const char* name) {
  return std::string("-m '").append(source).append("/examples/models/").append(name).append(".gguf' ");
}
std::string golden(const char* name) {
  return std::string("-m '").append(source).append("/tests/golden/").append(name).append("/model.gguf' ");
}
std::string steno_with(const std::string& words) {
  return std::string("'").append(STENO_PROGRAM).append("' ").append(words);
}

class written {
 public:
  /// Every line of what the command writes.
  void check(const std::string& definition, std::initializer_list<std::string> parts) const {
    std::string words;
    for (const std::string& part : parts) words.append(part).append(" ");
    const auto o = steno::test::shell(dir_, steno_with(words) + train);
    ASSERT_EQ(o.code, 0) << words << '\n' << o.err;
    std::istringstream lines(o.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      EXPECT_EQ(problems(definition, json::parse(line)), "") << words << '\n' << line;
    EXPECT_GT(count, 0) << words;
  }

 private:
  steno::test::temporary_directory dir_;
};

TEST(steno_json, results_are_as_documented) {
  const written program;
  for (const char* name : {"demo", "fun-asr-nano", "paraformer", "paraformer-online", "parakeet-ctc", "parakeet-eou",
                           "parakeet-tdt", "qwen3-asr", "u2", "whisper"})
    for (const char* vad : {"none", "energy"}) {
      program.check("result", {"-q --format json --style steno --vad ", std::string(vad), demo(name)});
      program.check("line", {"-q --format jsonl --vad ", std::string(vad), demo(name)});
    }
  program.check("result", {"-q --format json --style steno --word-timestamps ", demo("whisper")});
  program.check("result", {"-q --format json --beam 4 ", demo("u2")});
  program.check("result", {"-q --format json --channels split ", demo("u2")});
  program.check("line", {"-q --format jsonl --channels split --offset 0.5 ", demo("u2")});
}

TEST(steno_json, events_are_as_documented) {
  const written program;
  for (const char* name :
       {"fun-asr-nano", "paraformer-online", "parakeet-ctc", "parakeet-eou", "parakeet-tdt", "qwen3-asr", "u2"})
    program.check("event", {"stream -q --format jsonl --vad energy ", demo(name)});
  const std::string who = "--speakers '" + source + "/tests/golden/sortformer/model.gguf' --split-on-speaker ";
  for (const char* name : {"parakeet-eou", "parakeet-tdt", "u2"})
    program.check("event",
                  {"stream -q --format jsonl --speaker-chunk-len 4 --speaker-chunk-right-context 1 ", who, demo(name)});
}

TEST(steno_json, speech_and_speakers_are_as_documented) {
  const written program;
  for (const char* detector : {"energy", "fsmn-vad"}) {
    const std::string model = std::string(detector) == "energy" ? "-m energy " : demo(detector);
    program.check("speech", {"vad -q --format json ", model});
    program.check("speech_line", {"vad -q --format jsonl ", model});
  }
  program.check("result", {"diarize -q --format json ", golden("sortformer")});
  program.check("line", {"diarize -q --format jsonl ", golden("sortformer")});
  const std::string who = "--speakers '" + source + "/tests/golden/sortformer/model.gguf' ";
  for (const char* name : {"demo", "parakeet-tdt", "whisper"}) {
    program.check("result", {"-q --format json --style steno ", who, demo(name)});
    program.check("line", {"-q --format jsonl ", who, demo(name)});
  }
}

// Its words have times from a forced aligner, and no probability.
TEST(steno_json, aligned_words_have_no_confidence) {
  const steno::test::temporary_directory dir;
  std::ofstream(dir.path() / "said.txt") << "the train leaves\n";
  const std::string text = std::string("--text '").append((dir.path() / "said.txt").string()).append("' ");
  const written program;
  program.check("result", {"align -q --format json ", text, golden("qwen3_aligner")});
  program.check("line", {"align -q --format jsonl ", text, golden("qwen3_aligner")});
  const auto o =
      steno::test::shell(dir, steno_with("align -q --format json ") + text + golden("qwen3_aligner") + train);
  const json all = json::parse(o.out);
  for (const json& w : all["segments"][0]["words"]) {
    EXPECT_EQ(w["timing"], "aligned");
    EXPECT_TRUE(w["confidence"].is_null()) << w;
  }
}

TEST(steno_json, facts_are_as_documented) {
  const steno::test::temporary_directory dir;
  for (const char* name : {"demo", "whisper", "fsmn-vad", "sortformer", "u2"}) {
    const auto o = steno::test::shell(dir, steno_with("info --format json ") + demo(name));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(problems("info", json::parse(o.out)), "") << name;
  }
}

// A schema that takes anything would be no test.
TEST(steno_json, the_schema_refuses) {
  EXPECT_NE(problems("moment", {{"type", "endpoint"}}), "");
  EXPECT_NE(problems("moment", {{"type", "endpoint"}, {"time", 1}, {"more", 1}}), "");
  EXPECT_NE(problems("word", {{"word", "a"}, {"confidence", 1.5}, {"timing", "native"}}), "");
  EXPECT_EQ(problems("word", {{"word", "a"}, {"confidence", nullptr}, {"timing", "none"}}), "");
  EXPECT_NE(problems("event", {{"type", "final"}}), "");
}

}  // namespace steno_json_test
