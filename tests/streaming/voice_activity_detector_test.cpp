// What every detector promises. fsmn_vad keeps it too: tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/energy_vad.hpp>
#include <steno/models/fsmn_vad.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include <gtest/gtest.h>

#include "support/speech.hpp"

namespace voice_activity_detector_test {

using namespace steno;

static_assert(streaming::voice_activity_detector<models::energy_vad>);
static_assert(streaming::voice_activity_detector<funasr::fsmn_vad_any>);
static_assert(streaming::voice_activity_detector<funasr::fsmn_vad_small>);
static_assert(!streaming::voice_activity_detector<int>);

struct emitted {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;
  void operator()(const segmentation::voice_change& v) { changes.emplace_back(v.start_ms, v.end_ms); }
};

constexpr double pauses[] = {0.6, 1.2, 3, 0.6, 0.9};

TEST(voice_activity_detector, results_do_not_depend_on_the_pieces) {
  const test::conversation c = test::joined_utterances(5, pauses);
  const models::energy_vad v;
  context at;
  emitted whole;
  auto s = v.start();
  v.accept(s, c.pcm, at, whole);
  v.finish(s, at, whole);
  ASSERT_EQ(whole.changes.size(), 10u);
  std::uint32_t random = 1;
  for (const std::size_t piece : {1u, 7u, 160u, 1601u, 48000u, 0u}) {  // 0: of changing length
    emitted some;
    for (std::span<const float> left(c.pcm); !left.empty();) {
      random = random * 1664525u + 1013904223u;
      const std::size_t n = std::min(left.size(), piece != 0 ? piece : (random >> 16) % 5000);
      v.accept(s, left.first(n), at, some);
      left = left.subspan(n);
    }
    v.finish(s, at, some);
    EXPECT_EQ(some.changes, whole.changes) << piece;
  }
}

// The pipeline forgets audio before settled_ms(); no later segment may begin there.
TEST(voice_activity_detector, settled_audio_is_not_asked_for_again) {
  const test::conversation c = test::joined_utterances(5, pauses);
  const models::energy_vad v;
  context at;
  auto s = v.start();
  std::int64_t settled = 0, largest = 0, open = -1, last = 0;
  const auto sink = [&](const segmentation::voice_change& change) {
    if (change.start_ms >= 0) {
      EXPECT_GE(change.start_ms, settled);
      EXPECT_GE(change.start_ms, last);
      EXPECT_EQ(open, -1);
      open = change.start_ms;
    }
    if (change.end_ms >= 0) {
      EXPECT_GT(change.end_ms, open);
      EXPECT_GE(open, 0);
      last = change.end_ms;
      open = -1;
    }
  };
  const std::span<const float> all(c.pcm);
  for (std::size_t from = 0; from < all.size(); from += 160) {
    const std::size_t n = std::min<std::size_t>(160, all.size() - from);
    v.accept(s, all.subspan(from, n), at, sink);
    const auto next = v.settled_ms(s);
    EXPECT_GE(next, settled);
    if (open >= 0) {
      EXPECT_EQ(next, open);
    } else {
      largest = std::max(largest, static_cast<std::int64_t>((from + n) / 16) - next);
    }
    settled = next;
  }
  v.finish(s, at, sink);
  EXPECT_EQ(open, -1);
  EXPECT_LE(largest, 1500);  // what is kept while nobody speaks: the first second, a pause, the padding
}

TEST(voice_activity_detector, a_finished_state_begins_anew_and_copies_go_their_own_way) {
  const test::conversation c = test::joined_utterances(2, pauses);
  const std::span<const float> all(c.pcm);
  const models::energy_vad v;
  context at;
  emitted whole, first, second;
  auto s = v.start();
  v.accept(s, all, at, whole);
  v.finish(s, at, whole);
  v.accept(s, all.first(all.size() / 2), at, first);
  second = first;
  auto fork = s;
  v.accept(s, all.subspan(all.size() / 2), at, first);
  v.finish(s, at, first);
  EXPECT_EQ(first.changes, whole.changes);
  v.accept(fork, all.subspan(all.size() / 2), at, second);
  v.finish(fork, at, second);
  EXPECT_EQ(second.changes, whole.changes);
}

TEST(voice_activity_detector, changes_become_segments) {
  streaming::voice_segment_collector whole;
  std::vector<streaming::voice_segment> segments;
  for (const segmentation::voice_change& v :
       {segmentation::voice_change{.start_ms = 10}, segmentation::voice_change{.end_ms = 30},
        segmentation::voice_change{40, 50}})
    whole(v, [&](const streaming::voice_segment& s) { segments.push_back(s); });
  EXPECT_EQ(segments, (std::vector<streaming::voice_segment>{{10, 30}, {40, 50}}));
}

}  // namespace voice_activity_detector_test
