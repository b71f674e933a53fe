// A request that finds no memory is lost, and nothing else: each of sixty allocations of a transcription, spread over
// it, fails in turn, with every bundled model, whole recordings and streams; and scratch memory has a limit.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/transcriber.hpp>

#include "support/allocations.hpp"
#include "support/emulated.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace out_of_memory_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";
const std::size_t positions = test::emulated() ? 6 : 60;  // an emulator takes minutes for each

std::vector<float> some_speech() {
  auto pcm = test::load_wav(examples / "audio/train.wav").pcm;
  pcm.resize(std::min<std::size_t>(pcm.size(), 32000));
  return pcm;
}

// Nothing when memory was out; every other end is the test's.
template <class F>
std::optional<std::string> attempt(std::size_t failing, F&& f) {
  std::optional<std::string> text;
  test::fail_allocation(failing);
  try {
    text = f();
  } catch (const error&) {
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  test::fail_allocation(0);
  return text;
}

// f() tells what it heard, each time with a context of its own.
template <class F>
void fail_in_turn(F&& f) {
  const test::allocation_counter counted;
  const std::string want = f();
  const std::size_t all = counted.so_far();
  ASSERT_GT(all, 0u);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < positions; ++i) {
    const auto got = attempt(1 + i * all / positions, f);
    if (got)
      EXPECT_EQ(*got, want) << "allocation " << 1 + i * all / positions << " of " << all;
    else
      ++lost;
  }
  EXPECT_GT(lost, positions / 2) << "allocations whose failure nobody notices are few";
  EXPECT_EQ(f(), want);
}

class out_of_memory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (test::emulated() && GetParam() == std::string("whisper"))
      GTEST_SKIP() << "windows of 30 s, an hour of an emulator; memory runs out alike on every processor";
  }
  fs::path file() const { return examples / "models" / (std::string(GetParam()) + ".gguf"); }
  std::vector<float> pcm = some_speech();
};

TEST_P(out_of_memory, loses_one_recording) {
  const transcriber t(file().string());
  fail_in_turn([&] {
    context c;
    return t.transcribe(pcm, {}, c).text;
  });
}

TEST_P(out_of_memory, loses_one_session) {
  const transcriber m(file().string());
  fail_in_turn([&] {
    context c;
    any_session s(m, {}, c);
    std::string text;
    const auto told = [&](const session_event& e) {
      if (e.final()) text += e.utterance.text;
    };
    for (std::size_t at = 0; at < pcm.size(); at += 4000)
      s.push(std::span<const float>(pcm).subspan(at, std::min<std::size_t>(4000, pcm.size() - at)), c, told);
    s.finish(c, told);
    return text;
  });
}

TEST_P(out_of_memory, scratch_has_a_limit) {
  const transcriber t(file().string());
  context c;
  const std::string want = t.transcribe(pcm, {}, c).text;
  const std::size_t needed = c.scratch.peak();
  for (std::size_t part = 1; part < 8; ++part) {
    context small;
    small.scratch.limit(needed * part / 8);
    EXPECT_THROW(t.transcribe(pcm, {}, small), error) << part;
    EXPECT_LE(small.scratch.capacity(), needed * part / 8);
    small.scratch.limit(4 * needed);
    EXPECT_EQ(t.transcribe(pcm, {}, small).text, want) << "after the lost one";
  }
}

INSTANTIATE_TEST_SUITE_P(models, out_of_memory,
                         testing::Values("demo", "paraformer", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "u2",
                                         "whisper", "qwen3-asr", "fun-asr-nano", "paraformer-online"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace out_of_memory_test
