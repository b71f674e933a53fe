// The bundled models that are no recognisers: punctuation, alignment, detection of speech; and what there is none of.
// Speakers: steno_demo_speakers_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace steno_demo_tasks_test {

namespace fs = std::filesystem;
using nlohmann::json;
using steno::test::outcome;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

class steno_demo_tasks : public testing::Test {
 protected:
  outcome run(const std::string& arguments) const {
    return steno::test::shell(dir, "'" STENO_PROGRAM "' " + arguments);
  }
  static std::string audio(const std::string& file) {
    return std::string(" '").append((examples / "audio" / file).string()).append("' ");
  }
  static json samples() { return json::parse(std::ifstream(examples / "audio" / "samples.json")); }
  steno::test::temporary_directory dir;
};

TEST_F(steno_demo_tasks, text_of_any_family_is_punctuated) {
  const std::string train = "The train to paris leaves in seven minutes.\n";
  for (const char* family :
       {"sense-voice", "paraformer", "paraformer-online", "parakeet-tdt", "u2", "whisper", "fun-asr-nano"}) {
    const outcome o = run(std::string("-q --punctuate demo --demo ").append(family).append(audio("train.wav")));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, train) << family;
  }
  EXPECT_EQ(run("stream -q --punctuate demo --demo u2" + audio("train.wav")).out, train);
  const outcome question = run("-q --punctuate demo" + audio("question.wav"));
  EXPECT_TRUE(question.out.ends_with("?\n")) << question.out;
}

// Where words begin is known of the bundled recordings; the card says how far from it most of them are.
TEST_F(steno_demo_tasks, words_of_a_text_are_found) {
  for (const json& sample : samples()) {
    std::ofstream(dir.path() / "text") << sample["text"].get<std::string>();
    const outcome o = run("align -q --demo --format json --text text" + audio(sample["file"]));
    ASSERT_EQ(o.code, 0) << o.err;
    const json words = json::parse(o.out)["segments"][0]["words"];
    ASSERT_EQ(words.size(), sample["starts"].size());
    double off = 0;
    for (std::size_t i = 0; i < words.size(); ++i)
      off += std::abs(words[i]["start"].get<double>() - sample["starts"][i].get<double>());
    EXPECT_LT(off / static_cast<double>(words.size()), 0.1) << o.out;
  }
  // A model without times of words has them by the aligner, and its text stays.
  const outcome plain = run("-q --demo qwen3-asr" + audio("train.wav")),
                timed = run("-q --demo qwen3-asr --align demo --format json" + audio("train.wav"));
  ASSERT_EQ(timed.code, 0) << timed.err;
  const json result = json::parse(timed.out);
  EXPECT_EQ(result["text"].get<std::string>() + "\n", plain.out);
  EXPECT_EQ(result["segments"][0]["words"][0]["timing"], "aligned");
}

TEST_F(steno_demo_tasks, speech_is_found) {
  const outcome o = run("vad -q --demo" + audio("train.wav"));
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string model = " -m '" + (examples / "models" / "fsmn-vad.gguf").string() + "'";
  EXPECT_EQ(o.out, run("vad -q" + model + audio("train.wav")).out);
  EXPECT_EQ(run("-q --vad demo" + audio("train.wav")).out, "the train to paris leaves in seven minutes\n");
}

TEST_F(steno_demo_tasks, what_is_not_there_is_said) {
  const outcome recogniser = run("--demo ct-punc" + audio("train.wav"));
  EXPECT_EQ(recogniser.code, 2);
  EXPECT_EQ(recogniser.err.find("fsmn-vad"), std::string::npos) << recogniser.err;  // not one of those to choose from
  EXPECT_EQ(run("info --demo ct-punc").code, 0);
  EXPECT_EQ(run("--demo sortformer" + audio("train.wav")).code, 2);
  EXPECT_EQ(run("info --demo sortformer").code, 0);
  EXPECT_EQ(run("diarize --demo -m m.gguf" + audio("train.wav")).code, 2);
  EXPECT_EQ(run("vad --demo -m energy" + audio("train.wav")).code, 2);
  EXPECT_EQ(run("align --text t" + audio("train.wav")).code, 2);
  // A file of this name is one.
  std::ofstream(dir.path() / "demo") << "no model";
  const outcome file = run("--punctuate demo" + audio("train.wav"));
  EXPECT_EQ(file.code, 1);
  EXPECT_NE(file.err.find("demo"), std::string::npos);
}

}  // namespace steno_demo_tasks_test
