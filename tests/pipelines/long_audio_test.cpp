// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/long_audio.hpp>

#include <gtest/gtest.h>

#include <array>

namespace long_audio_test {

using namespace steno;

TEST(long_audio, short_clips_stay_whole_and_empty_ones_vanish) {
  EXPECT_TRUE(pipelines::split_at_pauses({}, 16000, 30).empty());
  const std::vector<float> clip(16000 * 30, 0.5f);
  const auto r = pipelines::split_at_pauses(clip, 16000, 30);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].end, 16000 * 30);
}

TEST(long_audio, cuts_in_the_pause) {
  std::vector<float> clip(16000 * 50);
  for (std::size_t i = 0; i < clip.size(); ++i) clip[i] = i % 2 ? 0.3f : -0.3f;
  const std::size_t pause = 16000 * 22;
  std::fill_n(clip.begin() + static_cast<std::ptrdiff_t>(pause), 16000 / 2, 0.0f);
  const auto r = pipelines::split_at_pauses(clip, 16000, 30);
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
    for (const pipelines::audio_range& p : pipelines::split_at_pauses(clip, 16000, 30)) {
      EXPECT_EQ(p.begin, at);
      EXPECT_GT(p.end, p.begin);
      EXPECT_LE(p.end - p.begin, 16000 * 30);
      at = p.end;
    }
    EXPECT_EQ(at, size);
  }
}

using ranges = std::vector<std::pair<extent, extent>>;

// Clips of `size` samples at 1000 Hz, pushed in portions, with what a detector says after the sample it says it at. It
// is done with the audio before its next segment, and with all but three seconds where none is open.
ranges cut(const pipelines::clip_options& o, std::size_t size, std::size_t portion,
           const std::vector<std::pair<extent, segmentation::voice_change>>& said) {
  std::vector<float> pcm(size);
  for (std::size_t i = 0; i < size; ++i) pcm[i] = static_cast<float>(i % 977) / 977;
  pipelines::clip_cutter c(1000, o);
  ranges found;
  std::size_t told = 0;
  std::int64_t open = -1;
  const auto take = [&] {
    while (const auto r = c.next()) {
      found.emplace_back(r->begin, r->end);
      const auto clip = c.clip(*r);
      EXPECT_EQ(static_cast<extent>(clip.size()), r->count());
      EXPECT_EQ(clip.front(), pcm[static_cast<std::size_t>(r->begin)]);
      EXPECT_EQ(clip.back(), pcm[static_cast<std::size_t>(r->end) - 1]);
      // Every sample is the recording's, from the place that the clip says.
      for (std::size_t i = 0; i < clip.size(); ++i)
        ASSERT_EQ(clip[i], pcm[static_cast<std::size_t>(r->place(static_cast<double>(i), false))]);
    }
  };
  for (std::size_t at = 0; at < size; at += portion) {
    c.push(std::span<const float>(pcm).subspan(at, std::min(portion, size - at)));
    for (; told < said.size() && said[told].first <= c.end(); ++told) {
      const segmentation::voice_change& v = said[told].second;
      c.voice(v);
      if (v.start_ms >= 0) open = v.start_ms;
      if (v.end_ms >= 0) open = -1;
    }
    std::int64_t settled = open >= 0 ? open : std::max<std::int64_t>(c.end() - 3000, 0);
    if (told < said.size() && said[told].second.start_ms >= 0) settled = std::min(settled, said[told].second.start_ms);
    if (o.voices) c.settled(settled);
    take();
  }
  c.finish();
  take();
  return found;
}

TEST(clip_cutter, portions_make_no_difference) {
  const std::vector<std::pair<extent, segmentation::voice_change>> said{
      {900, {500, -1}},   {2600, {-1, 2100}},   {3000, {2500, -1}},   {4000, {-1, 3600}},
      {9000, {8800, -1}}, {59000, {-1, 58000}}, {61000, {58000, -1}}, {64000, {-1, 63999}}};
  for (const double merge : {0.0, 4.0, 20.0}) {
    const pipelines::clip_options o{.cut = {.max_seconds = 30}, .voices = true, .merge_seconds = merge};
    const ranges once = cut(o, 70000, 70000, said);
    for (const std::size_t portion : {1u, 160u, 999u, 16000u}) EXPECT_EQ(cut(o, 70000, portion, said), once) << merge;
  }
  for (const double max_seconds : {1.0, 4.0, 30.0}) {
    const pipelines::clip_options o{.cut = {.max_seconds = max_seconds}, .voices = true, .share = true};
    const ranges once = cut(o, 70000, 70000, said);
    for (const std::size_t portion : {1u, 160u, 999u, 16000u})
      EXPECT_EQ(cut(o, 70000, portion, said), once) << max_seconds;
  }
  const ranges once = cut({.cut = {.max_seconds = 30}}, 70000, 70000, {});
  for (const std::size_t portion : {1u, 160u, 999u, 16000u})
    EXPECT_EQ(cut({.cut = {.max_seconds = 30}}, 70000, portion, {}), once);
}

TEST(clip_cutter, keeps_what_the_detector_may_still_speak_of_and_no_more) {
  pipelines::clip_cutter c(1000, {.voices = true});
  const std::vector<float> second(1000, 0.5f);
  for (int i = 0; i < 100; ++i) {  // a detector that makes up its mind after 20 s
    c.push(second);
    c.settled(std::max(1000 * (i - 20), 0));
    EXPECT_FALSE(c.next().has_value());
    EXPECT_LE(c.clip(pipelines::audio_range{c.first(), c.end()}).size(), 45000u) << i;
  }
  c.voice({80000, 99000});
  const auto r = c.next();
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->begin, 80000);
  EXPECT_EQ(r->end, 99000);
}

TEST(clip_cutter, clips_are_the_detectors_segments) {
  const std::vector<std::pair<extent, segmentation::voice_change>> said{
      {900, {500, -1}}, {2600, {-1, 2100}}, {3000, {2500, 2900}}};
  EXPECT_EQ(cut({.voices = true}, 5000, 100, said), (ranges{{500, 2100}, {2500, 2900}}));
  EXPECT_EQ(cut({.voices = true, .merge_seconds = 2.4}, 5000, 100, said), (ranges{{500, 2900}}));
  EXPECT_EQ(cut({.voices = true, .merge_seconds = 2.3}, 5000, 100, said), (ranges{{500, 2100}, {2500, 2900}}));
  EXPECT_TRUE(cut({.voices = true}, 5000, 100, {}).empty());
}

// Up to the length of a clip, counting speech alone; what is longer is cut, and its rest shares a clip, too.
TEST(clip_cutter, segments_share_clips) {
  const std::vector<std::pair<extent, segmentation::voice_change>> said{
      {900, {500, -1}}, {2600, {-1, 2100}}, {3000, {2500, 2900}}, {6000, {5000, 5600}}, {9600, {9000, 9500}}};
  const auto shared = [&](double max_seconds) {
    return cut({.cut = {.max_seconds = max_seconds}, .voices = true, .share = true}, 20000, 100, said);
  };
  EXPECT_EQ(shared(30), (ranges{{500, 9500}}));
  EXPECT_EQ(shared(2.6), (ranges{{500, 5600}, {9000, 9500}}));                // 2.6 s of speech fill a clip
  EXPECT_EQ(shared(2.5), (ranges{{500, 2900}, {5000, 5600}, {9000, 9500}}));  // 9.0 s is too long after 5.6 s
  EXPECT_EQ(shared(3.3), (ranges{{500, 5600}, {9000, 9500}}));
  EXPECT_EQ(shared(3.4), (ranges{{500, 9500}}));
  const ranges found = shared(1);  // the first segment is 1.6 s long
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found[0].first, 500);
  EXPECT_LE(found[0].second, 1500);
  EXPECT_EQ(found[1].first, found[0].second);
  EXPECT_TRUE(cut({.voices = true, .share = true}, 5000, 100, {}).empty());
  EXPECT_EQ(cut({.voices = true, .merge_seconds = 2.4, .share = true}, 5000, 100, said).front(),
            (std::pair<extent, extent>{500, 2900}));
}

TEST(clip_cutter, a_clip_that_waits_for_speech_keeps_no_pause) {
  pipelines::clip_cutter c(1000, {.voices = true, .share = true});
  const std::vector<float> second(1000, 0.5f);
  for (int i = 0; i < 29; ++i) {
    c.push(second);
    if (i == 5) c.voice({1000, 4000});
    c.settled(i < 5 ? 500 : 1000 * i);
    EXPECT_FALSE(c.next().has_value());
    EXPECT_EQ(c.earliest(), i < 5 ? c.first() : std::min<extent>(c.first(), 1000)) << i;
  }
  EXPECT_GT(c.first(), 20000);
  for (int i = 29; i < 36; ++i) {
    c.push(second);
    c.settled(1000 * i);
  }
  const auto r = c.next();  // 30 s without speech
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->begin, 1000);
  EXPECT_EQ(r->end, 4000);
  EXPECT_EQ(c.clip(*r).size(), 3000u);
}

TEST(audio_clip, places_at_a_seam) {
  const pipelines::audio_clip c{{100, 460}, {{100, 200}, {300, 350}, {450, 460}}};
  EXPECT_EQ(c.count(), 160);
  for (const auto& [at, start, end] : std::vector<std::array<double, 3>>{{0, 100, 100},
                                                                         {99.5, 199.5, 199.5},
                                                                         {100, 300, 200},
                                                                         {120, 320, 320},
                                                                         {150, 450, 350},
                                                                         {155, 455, 455},
                                                                         {160, 460, 460},
                                                                         {500, 460, 460}}) {
    EXPECT_EQ(c.place(at, false), start) << at;
    EXPECT_EQ(c.place(at, true), end) << at;
  }
  EXPECT_EQ(c.part(99).begin, 100);
  EXPECT_EQ(c.part(100).begin, 300);
  EXPECT_EQ(c.part(1000).begin, 450);
  const pipelines::audio_clip one{{100, 460}};
  EXPECT_EQ(one.count(), 360);
  EXPECT_EQ(one.place(12.5, true), 112.5);
  EXPECT_EQ(one.part(3).end, 460);
}

TEST(clip_cutter, segments_that_are_too_long_are_cut) {
  const auto found =
      cut({.cut = {.max_seconds = 10}, .voices = true}, 40000, 500, {{2000, {1000, -1}}, {36000, {-1, 35000}}});
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found.front().first, 1000);
  EXPECT_EQ(found.back().second, 35000);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(found[i].second - found[i].first, 10000);
    EXPECT_TRUE(i == 0 || found[i].first == found[i - 1].second);
  }
}

// A search wider than the clips themselves would find its quietest place at their beginning, again and again.
TEST(clip_cutter, clips_shorter_than_the_search_are_at_least_half_as_long_as_they_may_be) {
  std::vector<float> pcm(20000);
  for (std::size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<float>(i) * 1e-5f;
  pipelines::clip_cutter c(1000, {.cut = {.max_seconds = 1, .rule = segmentation::cut_rule::around, .around = 5}});
  c.push(pcm);
  c.finish();
  extent last = 0;
  while (const auto r = c.next()) {
    EXPECT_EQ(r->begin, last);
    EXPECT_TRUE(r->end - r->begin >= 500 || r->end == 20000) << r->begin << " " << r->end;
    last = r->end;
  }
  EXPECT_EQ(last, 20000);
}

// Near a length, as quiet_splits() cuts, whatever the portions: what lies behind a window has no say.
TEST(clip_cutter, cuts_near_a_length_as_quiet_splits_does) {
  std::vector<float> pcm(100300);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = static_cast<float>((i * i * 31 + i) % 1009) / 1009 * (i / 700 % 5 == 3 ? 0.1f : 1.0f);
  for (const double max_seconds : {10.0, 33.3, 100.2, 100.3, 500.0})
    for (const std::size_t size : {pcm.size(), std::size_t{30000}, std::size_t{15000}}) {
      const std::span<const float> all = std::span<const float>(pcm).first(size);
      const segmentation::cut_policy p{.max_seconds = max_seconds, .rule = segmentation::cut_rule::around, .around = 5};
      const std::vector<extent> starts = segmentation::quiet_splits(all, 1000, p);
      for (const std::size_t portion : {std::size_t{77}, std::size_t{16000}, size}) {
        pipelines::clip_cutter c(1000, {.cut = p});
        std::vector<extent> found;
        const auto take = [&] {
          while (const auto r = c.next()) {
            found.push_back(r->begin);
            EXPECT_EQ(c.clip(*r)[0], all[static_cast<std::size_t>(r->begin)]);
          }
          EXPECT_LE(static_cast<double>(c.end() - c.first()),
                    2 * (max_seconds + 5) * 1000 + 2.0 * static_cast<double>(portion));
        };
        for (std::size_t at = 0; at < size; at += portion) {
          c.push(all.subspan(at, std::min(portion, size - at)));
          take();
        }
        c.finish();
        take();
        EXPECT_EQ(found, starts) << max_seconds << " " << size << " " << portion;
      }
    }
}

}  // namespace long_audio_test
