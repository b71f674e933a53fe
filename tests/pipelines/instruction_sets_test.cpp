// The demonstration models write the same text with every instruction set that this processor has.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/cpu.hpp>
#include <steno/pipelines/transcriber.hpp>

#include "support/emulated.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace instruction_sets_test {

namespace fs = std::filesystem;
using namespace steno;

/// The texts of each model by the name of the recording, as the tests in C have them.
std::map<std::string, std::map<std::string, std::string>> expected() {
  std::map<std::string, std::map<std::string, std::string>> all;
  std::ifstream in(fs::path(STENO_SOURCE_DIR) / "tests/c/texts.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t model = line.find(' '), recording = line.find(": ");
    if (line.starts_with('#') || recording == std::string::npos || model > recording) continue;
    all[line.substr(0, model)][line.substr(model + 1, recording - model - 1)] = line.substr(recording + 2);
  }
  return all;
}

/// A lower limit while it lives: weights are packed for a level when they are loaded.
struct limit {
  explicit limit(kernels::isa level) { kernels::limit_isa(level); }
  ~limit() { kernels::limit_isa(kernels::best_isa()); }
  limit(const limit&) = delete;
  limit& operator=(const limit&) = delete;
};

class demo_model : public testing::TestWithParam<std::string> {};

TEST_P(demo_model, writes_the_same_with_every_instruction_set) {
  const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";
  const std::map<std::string, std::string> texts = expected().at(GetParam());
  ASSERT_FALSE(texts.empty());
  for (const kernels::isa level : kernels::isa_levels) {
    if (!kernels::has_isa(level)) continue;
    SCOPED_TRACE(std::string(kernels::name_of(level)));
    const limit lower(level);
    const transcriber t((examples / "models" / (GetParam() + ".gguf")).string());
    context c;
    for (const auto& [recording, text] : texts) {
      // An emulator takes minutes for each.
      if (test::emulated() && level != kernels::best_isa() && recording != texts.begin()->first) continue;
      const std::vector<float> pcm = test::load_wav(examples / "audio" / (recording + ".wav")).pcm;
      EXPECT_EQ(t.transcribe(pcm, {}, c).text, text) << recording;
    }
  }
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& [name, texts] : expected()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(each, demo_model, testing::ValuesIn(models()), [](const auto& p) {
  std::string name = p.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

}  // namespace instruction_sets_test
