// steno without -m and with --demo: the bundled demonstration models on the bundled recordings.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

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

struct model_and_words {
  const char* family;
  bool sample_times;  // words' times are those of the samples
};

// Which families have a model is a matter of the checkout; what is there has to work.
class steno_demo_family : public testing::TestWithParam<model_and_words> {};

TEST_P(steno_demo_family, transcribes_the_bundled_recordings) {
  const auto [family, sample_times] = GetParam();
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  if (!std::filesystem::exists(examples / "models" / (std::string(family) + ".gguf")))
    GTEST_SKIP() << "the demonstration model is not here";
  const nlohmann::json samples = nlohmann::json::parse(std::ifstream(examples / "audio" / "samples.json"));
  const steno::test::temporary_directory dir;
  const auto o = steno::test::shell(dir, "'" STENO_PROGRAM "' -q --threads 2 --demo " + std::string(family) +
                                             " --format json -o out/ '" + (examples / "audio").string() + "'");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const nlohmann::json& sample : samples) {
    const auto name = std::filesystem::path(sample["file"].get<std::string>()).replace_extension(".json");
    const nlohmann::json said = nlohmann::json::parse(std::ifstream(dir.path() / "out" / name));
    std::string text = said["text"];
    for (const std::string mark : {"<EOU>", "<EOB>"})
      while (text.find(mark) != std::string::npos) text.erase(text.find(mark), mark.size());
    while (text.ends_with(' ')) text.pop_back();
    EXPECT_EQ(text, sample["text"].get<std::string>()) << name;
    std::vector<double> starts;
    for (const nlohmann::json& s : said["segments"])
      for (const nlohmann::json& w : s["words"]) starts.push_back(w["start"]);
    EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << name;
    if (!sample_times) continue;
    ASSERT_EQ(starts.size(), sample["starts"].size()) << name;
    std::ptrdiff_t near = 0;  // 120 ms is what the models' cards promise for nine words of ten
    for (std::size_t i = 0; i < starts.size(); ++i)
      near += std::abs(starts[i] - sample["starts"][i].get<double>()) <= 0.121 ? 1 : 0;
    EXPECT_GE(near + 1, static_cast<std::ptrdiff_t>(starts.size())) << name << ": " << said.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(all, steno_demo_family,
                         testing::Values(model_and_words{"parakeet-ctc", true}, model_and_words{"parakeet-tdt", true},
                                         model_and_words{"parakeet-eou", false}),
                         [](const auto& tested) {
                           std::string name = tested.param.family;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

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
