#include <steno/pipelines/long_audio.hpp>

#include <gtest/gtest.h>

using namespace steno;

TEST(long_audio, short_clips_stay_whole_and_empty_ones_vanish) {
  EXPECT_TRUE(split_at_pauses({}, 16000, 30).empty());
  const std::vector<float> clip(16000 * 30, 0.5f);
  const auto r = split_at_pauses(clip, 16000, 30);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].end, 16000 * 30);
}

TEST(long_audio, cuts_in_the_pause) {
  std::vector<float> clip(16000 * 50);
  for (std::size_t i = 0; i < clip.size(); ++i) clip[i] = i % 2 ? 0.3f : -0.3f;
  const std::size_t pause = 16000 * 22;
  std::fill_n(clip.begin() + static_cast<std::ptrdiff_t>(pause), 16000 / 2, 0.0f);
  const auto r = split_at_pauses(clip, 16000, 30);
  ASSERT_EQ(r.size(), 2u);
  EXPECT_GE(r[0].end, static_cast<extent>(pause));
  EXPECT_LE(r[0].end, static_cast<extent>(pause + 8000));
  EXPECT_EQ(r[1].begin, r[0].end);
  EXPECT_EQ(r[1].end, static_cast<extent>(clip.size()));
}

TEST(long_audio, pieces_cover_everything_and_are_never_too_long) {
  for (const extent size : {1, 479999, 480001, 2000000, 5000000}) {
    const std::vector<float> clip(static_cast<std::size_t>(size), 0.1f);
    extent at = 0;
    for (const audio_range& p : split_at_pauses(clip, 16000, 30)) {
      EXPECT_EQ(p.begin, at);
      EXPECT_GT(p.end, p.begin);
      EXPECT_LE(p.end - p.begin, 16000 * 30);
      at = p.end;
    }
    EXPECT_EQ(at, size);
  }
}
