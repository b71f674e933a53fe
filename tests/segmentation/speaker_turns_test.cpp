// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/speaker_turns.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace speaker_turns_test {

using namespace steno;
using segmentation::speaker_segment_options;
using segmentation::speaker_turn;
using segmentation::speaker_turns;
using list = std::vector<speaker_turn>;

// Rows of 0.1 s.
struct rows {
  std::vector<float> p;
  extent speakers;
  view<const float> from(extent r, extent count) const {
    return core::make_view(p.data() + r * speakers, count, speakers);
  }
  extent count() const { return static_cast<extent>(p.size()) / speakers; }
};

list played(const rows& x, extent portion, extent steps, const speaker_segment_options& o, speaker_turns::order by) {
  speaker_turns turns(x.speakers, steps, o, by);
  list all;
  const auto take = [&](const speaker_turn& t) { all.push_back(t); };
  for (extent r = 0; r < x.count(); r += portion) turns.push(x.from(r, std::min(portion, x.count() - r)), take);
  turns.finish(take);
  return all;
}
list by_start(list all) {
  std::stable_sort(all.begin(), all.end(), [](const speaker_turn& a, const speaker_turn& b) {
    return a.span.start < b.span.start || (a.span.start == b.span.start && a.speaker < b.speaker);
  });
  return all;
}

TEST(speaker_turns, those_of_the_whole_recording_one_by_one) {
  test::random_numbers random(3);
  for (int round = 0; round < 60; ++round) {
    rows x{.p = random.vector(3 * 150, 0, 1), .speakers = 3};
    for (std::size_t i = 3; i < x.p.size(); ++i)  // probabilities stay for a while
      if (random.uniform() < 0.8f) x.p[i] = x.p[i - 3];
    speaker_segment_options o;
    if (round % 2 == 1) {
      o.onset = static_cast<double>(random.uniform(0.5f, 0.8f));
      o.offset = static_cast<double>(random.uniform(0.2f, 0.5f));
    }
    if (round % 3 == 1) o.pad_onset = static_cast<double>(random.uniform(0, 0.3f));
    if (round % 4 > 1) o.pad_offset = static_cast<double>(random.uniform(0, 0.3f));
    if (round % 5 == 1) o.min_duration_on = static_cast<double>(random.uniform(0, 0.5f));
    if (round % 5 > 2) o.min_duration_off = static_cast<double>(random.uniform(0, 0.5f));
    const extent steps = round % 2 == 0 ? 8 : 1;
    list want;
    for (extent s = 0; s < 3; ++s)
      for (const auto& span : segmentation::speaker_segments(x.from(0, x.count()), s, steps, o))
        want.push_back({.span = span, .speaker = s});
    want = by_start(want);
    for (const extent portion : {1, 7, 1000}) {
      EXPECT_EQ(played(x, portion, steps, o, speaker_turns::order::starts), want) << round;
      EXPECT_EQ(by_start(played(x, portion, steps, o, speaker_turns::order::settled)), want) << round;
    }
    EXPECT_EQ(played(x, 1, steps, o, speaker_turns::order::settled),
              played(x, 9, steps, o, speaker_turns::order::settled));
  }
}

TEST(speaker_turns, when_they_come) {
  // The first speaks from 0 to 0.6 s and from 0.7 s on, the second from 0.2 to 0.4 s.
  const rows x{.p = {1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0}, .speakers = 2};
  list all;
  const auto take = [&](const speaker_turn& t) { all.push_back(t); };
  const speaker_turn a{{0, 0.6}, 0}, b{{0.2, 0.4}, 1}, c{{0.7, 0.89}, 0};
  speaker_turns settled(2, 10, {}, speaker_turns::order::settled), starts(2, 10);
  settled.push(x.from(0, 6), take);
  EXPECT_EQ(all, (list{b}));
  settled.push(x.from(6, 3), take);
  EXPECT_EQ(all, (list{b, a}));
  settled.finish(take);
  EXPECT_EQ(all, (list{b, a, c}));
  all.clear();
  starts.push(x.from(0, 6), take);
  EXPECT_EQ(all, list{});  // the first goes on
  starts.push(x.from(6, 1), take);
  EXPECT_EQ(all, (list{a, b}));
  starts.push(x.from(7, 2), take);
  starts.finish(take);
  EXPECT_EQ(all, (list{a, b, c}));
}

}  // namespace speaker_turns_test
