// steno without -m: the bundled demonstration model on the bundled recordings.
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"

namespace {

TEST(steno_demo, transcribes_the_bundled_recordings) {
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  if (!std::filesystem::exists(examples / "models" / "demo.gguf"))
    GTEST_SKIP() << "the demonstration model is not here";
  const nlohmann::json samples = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
  ASSERT_FALSE(samples.empty());
  const steno::test::temporary_directory dir;
  const auto o = steno::test::shell(dir, "env -u STENO_DEMO_MODEL '" STENO_PROGRAM "' -q --threads 2 -o out/ '" +
                                             (examples / "audio").string() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out + o.err, "");
  for (const nlohmann::json& sample : samples) {
    const auto name = std::filesystem::path(sample["file"].get<std::string>()).replace_extension(".txt");
    std::ostringstream text;
    text << std::ifstream(dir.path() / "out" / name).rdbuf();
    EXPECT_EQ(text.str(), sample["text"].get<std::string>() + "\n") << name;
  }
}

TEST(steno_demo, takes_no_phrases) {
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  if (!std::filesystem::exists(examples / "models" / "demo.gguf"))
    GTEST_SKIP() << "the demonstration model is not here";
  const steno::test::temporary_directory dir;
  const auto o = steno::test::shell(dir, "echo hello >words.txt && env -u STENO_DEMO_MODEL '" STENO_PROGRAM
                                         "' -q --hotwords words.txt '" +
                                             (examples / "audio" / "train.wav").string() + "'");
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err.rfind("steno: --hotwords: ", 0), 0u) << o.err;
}

}  // namespace
