// steno with the bundled Paraformer: texts, times of words, silence.
#include <cmath>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace {

using nlohmann::json;

class steno_demo_paraformer : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(examples / "models" / "paraformer.gguf"))
      GTEST_SKIP() << "the demonstration model is not here";
  }
  json heard(const std::string& input) const {
    const auto o = steno::test::shell(dir, "'" STENO_PROGRAM "' transcribe -q --threads 2 --format json -m '" +
                                               (examples / "models" / "paraformer.gguf").string() + "' " + input);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? json::parse(o.out) : json();
  }
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  steno::test::temporary_directory dir;
};

TEST_F(steno_demo_paraformer, transcribes_the_bundled_recordings) {
  for (const json samples = json::parse(std::ifstream(examples / "audio" / "samples.json")); const json& s : samples)
    EXPECT_EQ(heard("'" + (examples / "audio" / s["file"].get<std::string>()).string() + "'").value("text", ""),
              s["text"].get<std::string>());
}

TEST_F(steno_demo_paraformer, words_begin_where_they_are_said) {
  // The synthesiser's own marks of question.wav, in seconds.
  const double truth[] = {0, 0.209, 0.473, 0.872, 1.126, 1.249, 1.481};
  const json result = heard("'" + (examples / "audio" / "question.wav").string() + "'");
  ASSERT_TRUE(result.contains("segments"));
  std::size_t n = 0, near = 0;
  double before = -1;
  for (const json& segment : result["segments"])
    for (const json& word : segment["words"]) {
      ASSERT_LT(n, std::size(truth));
      const double start = word["start"];
      EXPECT_GE(start, before);
      before = start;
      if (std::abs(start - truth[n++]) <= 0.12) ++near;
    }
  EXPECT_EQ(n, std::size(truth));
  EXPECT_GE(near + 1, n);  // nine tenths of all words are within 120 ms: one of seven may be farther
}

TEST_F(steno_demo_paraformer, says_nothing_of_silence) {
  std::ofstream(dir.path() / "silence.raw", std::ios::binary) << std::string(320000, '\0');
  EXPECT_EQ(heard("- < silence.raw").value("text", "?"), "");
}

}  // namespace
