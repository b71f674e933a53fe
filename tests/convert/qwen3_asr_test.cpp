// Folders and packaged files of Qwen3-ASR: how long a clip may be. Stages and texts: tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/gguf.hpp>

#include "convert/convert.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace qwen3_asr_test {

namespace fs = std::filesystem;
using namespace steno;

constexpr const char* key = "qwen3_asr.longest_clip";

class qwen3_folder : public testing::Test {
 protected:
  std::optional<double> longest(const fs::path& input, const convert_options& o = {}) {
    convert(input, out(), o);
    return gguf_file(out().string()).number(key);
  }
  std::string refusal(const fs::path& input, const convert_options& o = {}) {
    try {
      convert(input, out(), o);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }
  fs::path out() const { return scratch.path() / "out.gguf"; }
  const test::temporary_directory scratch;
  const fs::path packaged = test::compact() / "qwen3_asr" / "model.gguf";
};

TEST_F(qwen3_folder, a_packaged_file_can_be_told_its_longest_clip) {
  EXPECT_FALSE(longest(packaged));
  EXPECT_EQ(longest(packaged, {.longest_clip = 12.5}), 12.5);
  const fs::path told = scratch.path() / "told.gguf";
  fs::rename(out(), told);
  EXPECT_EQ(longest(told), 12.5);
  EXPECT_EQ(longest(told, {.longest_clip = 30}), 30);
  const gguf_file before(packaged.string()), after(out().string());
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto a = before.tensor(i).bytes, b = after.tensor(i).bytes;
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << before.tensor(i).name;
  }
  EXPECT_EQ(before.values().size() + 1, after.values().size());
}

TEST_F(qwen3_folder, a_longest_clip_that_makes_no_sense_is_refused) {
  for (const double seconds : {0.5, -3.0, 1201.0})
    EXPECT_NE(refusal(packaged, {.longest_clip = seconds}).find("longest clip"), std::string::npos) << seconds;
  const fs::path other = test::compact() / "sensevoice" / "model.gguf";
  EXPECT_NE(refusal(other, {.longest_clip = 10}).find("is for Qwen3-ASR"), std::string::npos);
}

TEST_F(qwen3_folder, its_config_may_say_the_longest_clip) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = scratch.path() / "checkpoint";
  test::copy_folder(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint", folder);
  nlohmann::json config;
  std::ifstream(folder / "config.json") >> config;
  fs::remove(folder / "config.json");
  const auto say = [&](const nlohmann::json& value) {
    config["longest_clip"] = value;
    std::ofstream(folder / "config.json") << config;
  };
  std::ofstream(folder / "config.json") << config;
  EXPECT_FALSE(longest(folder));
  say(12);
  EXPECT_EQ(longest(folder), 12);
  EXPECT_EQ(longest(folder, {.longest_clip = 20}), 20);
  for (const nlohmann::json& wrong : {nlohmann::json(0), nlohmann::json("long"), nlohmann::json(5000)}) {
    say(wrong);
    EXPECT_NE(refusal(folder).find("longest_clip"), std::string::npos) << wrong;
  }
}

}  // namespace qwen3_asr_test
