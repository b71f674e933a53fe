// Frames to segments: where they begin and end, what is too short, too long or open at the end.
// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/voice_segments.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace voice_segments_test {

using namespace steno;

using segments = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Runs of frames: speech, silence, speech, ... (frames of 10 ms), beginning with silence.
segments run(const segmentation::voice_segment_options& o, std::initializer_list<int> lengths) {
  std::vector<bool> frames;
  bool speech = false;
  for (const int n : lengths) {
    frames.insert(frames.end(), static_cast<std::size_t>(n), speech);
    speech = !speech;
  }
  segmentation::voice_segmenter s(o);
  segments found;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const segmentation::voice_change v = s.frame(frames[i], i + 1 == frames.size());
    if (v.start_ms >= 0) found.emplace_back(v.start_ms, -1);
    if (v.end_ms >= 0) found.back().second = v.end_ms;
  }
  return found;
}

TEST(voice_segments, begin_before_the_window_and_end_after_the_pause) {
  // Speech in frames 100-199. 15 of 20 frames are speech at frame 114: the segment starts 40 frames before. Speech has
  // left the window to 15 frames at 204; 65 silent frames later the pause is long enough: 54 are given back.
  EXPECT_EQ(run({}, {100, 100, 200}), (segments{{740, 2160}}));
}

TEST(voice_segments, short_noise_is_no_speech) { EXPECT_TRUE(run({}, {100, 14, 200}).empty()); }

TEST(voice_segments, a_short_pause_does_not_end_a_segment) {
  // Silence is counted until the window has turned back, 14 frames into the speech: 45 + 14 frames are below 65.
  EXPECT_EQ(run({}, {100, 100, 50, 100, 200}).size(), 1u);
  EXPECT_EQ(run({}, {100, 100, 90, 100, 200}).size(), 2u);
}

TEST(voice_segments, do_not_overlap) {
  const auto found = run({.max_end_silence = 200}, {100, 100, 30, 100, 30, 100, 100});
  ASSERT_EQ(found.size(), 3u);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i].first, found[i - 1].second);
}

TEST(voice_segments, an_open_segment_ends_with_the_audio) {
  EXPECT_EQ(run({}, {100, 100}), (segments{{740, 2000}}));
  EXPECT_EQ(run({}, {100, 15}), (segments{{740, 1150}}));  // begun by the last frame
}

TEST(voice_segments, long_speech_is_cut) {
  const auto found = run({.max_single_segment = 1000}, {100, 300, 100});
  ASSERT_GE(found.size(), 3u);
  for (const auto& [start, end] : found) EXPECT_LE(end - start, 1010);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i].first, found[i - 1].second);
}

TEST(voice_segments, single_utterance_stops_after_the_first) {
  EXPECT_EQ(run({.single_utterance = true}, {100, 100, 200, 100, 200}).size(), 1u);
}

TEST(voice_segments, finish_closes_what_is_open) {
  segmentation::voice_segmenter s;
  for (int i = 0; i < 100; ++i) (void)s.frame(true);
  EXPECT_EQ(s.finish().end_ms, 1000);
  EXPECT_FALSE(s.finish().any());
}

}  // namespace voice_segments_test
