// Texts while they are written: each begins as the one before, and the last is what the call returns. Models that do
// not write token by token refuse it by name.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/transcriber.hpp>

#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace writing_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";
transcriber open(const std::string& name) { return transcriber((examples / "models" / (name + ".gguf")).string()); }
TEST(writing, texts_grow_to_the_result) {
  const auto pcm = test::load_wav(examples / "audio/train.wav").pcm;
  for (const char* name : {"qwen3-asr", "whisper"}) {
    const transcriber t = open(name);
    context c;
    const std::string want = t.transcribe(pcm, {}, c).text;
    std::vector<std::string> all;
    auto show = [&](std::string_view text) { all.emplace_back(text); };
    EXPECT_EQ(t.transcribe(pcm, {.writing = show}, c).text, want) << name;
    ASSERT_GT(all.size(), 5u) << name;
    std::string before;
    for (const std::string& text : all) {
      EXPECT_TRUE(text.starts_with(before)) << name << ": " << before << " became " << text;
      before = text;
    }
    EXPECT_TRUE(want.find(before) != std::string::npos && before.size() + 8 > want.size()) << name << ": " << before;
    EXPECT_TRUE(t.supports("writing"));
  }
}

TEST(writing, is_refused_by_name_where_there_is_none) {
  context c;
  auto show = [](std::string_view) {};
  const std::vector<float> pcm(16000);
  const auto why = [&](const transcriber& t, const transcribe_options& o) {
    try {
      (void)t.transcribe(pcm, o, c);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(why(open("demo"), {.writing = show}).find("option writing"), std::string::npos);
  EXPECT_NE(why(open("qwen3-asr"), {.parallel_clips = 2, .writing = show}).find("one clip at a time"),
            std::string::npos);
}

}  // namespace writing_test
