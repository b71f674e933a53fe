// The three rules one by one; whole golden tables are in tests/streaming/u2_stream_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/ctc_endpoint.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace ctc_endpoint_test {

using namespace steno;

// Chunks of ten frames of 40 ms until an endpoint: returns how many ms were heard.
extent until_endpoint(segmentation::ctc_endpoint e, float blank, bool decoded, int max_frames = 100) {
  const std::vector<float> rows(20, std::log(blank));
  for (int i = 1; i <= max_frames; ++i)
    if (e.advance(core::make_view(rows.data(), 10, 2), decoded)) return i * 400;
  return -1;
}
TEST(ctc_endpoint, silence_ends_sooner_after_words) {
  EXPECT_EQ(until_endpoint(segmentation::ctc_endpoint{}, 0.9f, true), 1200);   // 1000 ms, looked at every 400
  EXPECT_EQ(until_endpoint(segmentation::ctc_endpoint{}, 0.9f, false), 5200);  // 5000 ms
}
TEST(ctc_endpoint, long_utterances_end_whatever_is_said) {
  EXPECT_EQ(until_endpoint(segmentation::ctc_endpoint{}, 0.1f, true), 20000);
  EXPECT_EQ(until_endpoint(segmentation::ctc_endpoint{}, 0.8f, true), 20000);  // the threshold itself is no silence
}
TEST(ctc_endpoint, speech_resets_the_silence) {
  segmentation::ctc_endpoint e;
  const std::vector<float> quiet(40, std::log(0.95f)), loud(2, std::log(0.1f));
  EXPECT_FALSE(e.advance(core::make_view(quiet.data(), 20, 2), true));
  EXPECT_EQ(e.silent_ms(), 800);
  EXPECT_FALSE(e.advance(core::make_view(loud.data(), 1, 2), true));
  EXPECT_EQ(e.silent_ms(), 0);
  EXPECT_FALSE(e.advance(core::make_view(quiet.data(), 20, 2), true));
  EXPECT_TRUE(e.advance(core::make_view(quiet.data(), 20, 2), true));
  e.reset();
  EXPECT_FALSE(e.advance(core::make_view(quiet.data(), 20, 2), true));
}

}  // namespace ctc_endpoint_test
