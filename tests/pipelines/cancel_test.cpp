// A stop that is requested ends every long call, and loading, soon; a progress callback may ask for it. What comes
// afterwards is as if nothing had been.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/sense_voice.hpp>
#include <steno/pipelines/transcriber.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace cancel_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

class cancelled_call : public testing::TestWithParam<const char*> {
 protected:
  std::string file() const { return (examples / "models" / (std::string(GetParam()) + ".gguf")).string(); }
  const std::vector<float> pcm = test::load_wav(examples / "audio/train.wav").pcm;
};

// An executor that requests a stop when it has run so many times: in the middle of a forward pass.
struct stopping_executor {
  std::stop_source stop = {};
  int left = 0;
  int width() const { return 1; }
  void run(extent n, core::task t) {
    if (--left == 0) stop.request_stop();
    for (extent i = 0; i < n; ++i) t(i, 0);
  }
};

TEST_P(cancelled_call, is_lost_alone) {
  const transcriber t(file());
  context plain;
  const std::string want = t.transcribe(pcm, {}, plain).text;
  stopping_executor all{.left = 1 << 30};
  context counting{executor(all)};
  (void)t.transcribe(pcm, {}, counting);
  const int runs = (1 << 30) - all.left;
  ASSERT_GT(runs, 20);
  for (const int at : {1, runs / 4, runs / 2, 3 * runs / 4}) {
    stopping_executor one{.left = at};
    context c{executor(one)};
    c.stop = one.stop.get_token();
    EXPECT_THROW((void)t.transcribe(pcm, {}, c), core::cancelled) << at;
    EXPECT_GT(-one.left, -runs) << at;  // not to the end
    c.stop = {};
    one.left = 1 << 30;
    EXPECT_EQ(t.transcribe(pcm, {}, c).text, want) << at;
  }
}

TEST_P(cancelled_call, of_a_session) {
  const transcriber t(file());
  std::stop_source stop;
  context c;
  c.stop = stop.get_token();
  any_session s(t, {}, c);
  const auto ignore = [](const session_event&) {};
  s.push(pcm, c, ignore);
  stop.request_stop();
  EXPECT_THROW(
      {
        for (int i = 0; i < 10; ++i) s.push(pcm, c, ignore);
        s.finish(c, ignore);
      },
      core::cancelled);
}

TEST_P(cancelled_call, of_loading) {
  std::stop_source stop;
  EXPECT_NO_THROW(transcriber(file(), {}, stop.get_token()));
  stop.request_stop();
  EXPECT_THROW(transcriber(file(), {}, stop.get_token()), core::cancelled);
}

TEST_P(cancelled_call, by_the_progress) {
  const transcriber t(file());
  context c;
  int calls = 0;
  auto once = [&](double, double) { return ++calls < 1; };
  EXPECT_THROW((void)t.transcribe(pcm, {.progress = once}, c), core::cancelled);
  EXPECT_EQ(calls, 1);
  auto never = [&](double, double) { return true; };
  auto nothing = [&](double, double) { ++calls; };
  EXPECT_EQ(t.transcribe(pcm, {.progress = never}, c).text, t.transcribe(pcm, {.progress = nothing}, c).text);
  EXPECT_GT(calls, 1);
}

INSTANTIATE_TEST_SUITE_P(models, cancelled_call,
                         testing::Values("demo", "paraformer", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "u2",
                                         "whisper", "qwen3-asr", "fun-asr-nano", "paraformer-online"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(cancelled_calls, from_another_thread_with_clips_at_once) {
  const transcriber t((examples / "models/demo.gguf").string());
  std::vector<float> hour;
  const auto one = test::load_wav(examples / "audio/train.wav").pcm;
  while (hour.size() < 3600u * 16000u) hour.insert(hour.end(), one.begin(), one.end());
  thread_pool pool(2);
  context c{executor(pool)};
  std::stop_source stop;
  c.stop = stop.get_token();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW((void)t.transcribe(hour, {.parallel_clips = 2}, c), core::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  other.join();
}

TEST(cancelled_calls, of_a_diarizer_and_a_type) {
  std::stop_source stop;
  context c;
  c.stop = stop.get_token();
  stop.request_stop();
  const auto pcm = test::load_wav(examples / "audio/train.wav").pcm;
  const diarizer d((test::compact() / "sortformer" / "model.gguf").string());
  EXPECT_THROW((void)d.diarize(pcm, {}, c), core::cancelled);
  const std::string file = (examples / "models/demo.gguf").string();
  EXPECT_THROW((void)load<funasr::sense_voice_any>(file, {}, stop.get_token()), core::cancelled);
  const auto model = load<funasr::sense_voice_any>(file);
  EXPECT_THROW((void)model.recognise(pcm, {}, c), core::cancelled);
}

}  // namespace cancel_test
