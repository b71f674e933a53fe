// SPDX-License-Identifier: Apache-2.0
#include <steno/networks/speaker_cache.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace speaker_cache_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;

nn::speaker_cache_options small() {
  return {.spkcache_len = 12,
          .fifo_len = 3,
          .chunk_len = 4,
          .spkcache_update_period = 5,
          .spkcache_sil_frames_per_spk = 1,
          .sil_threshold = 0.2f};
}

// Rows that hold their own number, and the probabilities with which each was said.
struct talk {
  std::vector<std::array<float, 2>> spoken{{}};
  // Pushes a chunk of `rows` in which p[s] is speaker s's probability; what is remembered is heard as it was said.
  void say(nn::speaker_cache& state, extent rows, std::array<float, 2> p, extent left = 0, extent right = 0) {
    table x(left + rows + right, 1), activities(state.rows() + left + rows + right, 2);
    x.setConstant(-1);  // the neighbours' rows are not new
    activities.setConstant(0.5f);
    const auto fill = [&](extent first, const view<const float>& numbers) {
      for (extent t = 0; t < numbers.rows(); ++t) {
        const auto n = static_cast<std::size_t>(numbers(t, 0));  // the mean silence has none of its own
        for (extent s = 0; s < 2; ++s)
          activities(first + t, s) =
              static_cast<float>(n) == numbers(t, 0) ? spoken[n][static_cast<std::size_t>(s)] : 0;
      }
    };
    fill(0, state.cache());
    fill(state.cache_rows(), state.fifo());
    for (extent t = 0; t < rows; ++t) {
      x(left + t, 0) = static_cast<float>(spoken.size());
      spoken.push_back(p);
      activities(state.rows() + left + t, 0) = p[0];
      activities(state.rows() + left + t, 1) = p[1];
    }
    state.update(core::read(x), core::read(activities), left, right);
  }
};

std::vector<float> numbers(const view<const float>& x) { return {x.data(), x.data() + x.size()}; }

TEST(speaker_cache, chunks_go_through_the_fifo) {
  nn::speaker_cache state(small(), 1, 2);
  talk t;
  t.say(state, 2, {0.9f, 0.1f}, 1, 2);
  EXPECT_EQ(numbers(state.fifo()), (std::vector<float>{1, 2}));
  EXPECT_EQ(state.cache_rows(), 0);
  t.say(state, 4, {0.9f, 0.1f});  // six are too many: five leave
  EXPECT_EQ(numbers(state.cache()), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(state.fifo()), (std::vector<float>{6}));
  EXPECT_EQ(state.cache_activities().rows(), 0);
  EXPECT_EQ(state.fifo_activities().rows(), 1);
}

// As many leave as do not fit, also when that is more than the period, and never more than there are.
TEST(speaker_cache, how_many_rows_leave) {
  nn::speaker_cache_options o = small();
  o.fifo_len = 0;
  o.spkcache_update_period = 2;
  nn::speaker_cache state(o, 1, 2);
  talk t;
  t.say(state, 4, {0.9f, 0.1f});
  EXPECT_EQ(state.cache_rows(), 4);
  EXPECT_EQ(state.fifo_rows(), 0);
  t.say(state, 1, {0.9f, 0.1f});
  EXPECT_EQ(state.cache_rows(), 5);
}

TEST(speaker_cache, a_full_cache_keeps_what_tells_its_speakers) {
  nn::speaker_cache state(small(), 1, 2);
  talk t;
  t.say(state, 4, {0.9f, 0.05f});   // 1 - 4: the first speaker
  t.say(state, 4, {0.05f, 0.9f});   // 5 - 8: the second one
  t.say(state, 4, {0.05f, 0.05f});  // 9 - 12: nobody, and less than the threshold together
  t.say(state, 4, {0.95f, 0.95f});  // 13 - 16: both
  ASSERT_EQ(state.cache_rows(), 12);
  EXPECT_GE(state.silent_rows(), 3);
  const std::vector<float> kept = numbers(state.cache());
  const table p = state.cache_activities();
  // The first speaker's rows in order of time, one of silence, the second's, one of silence, and what nothing was found
  // for: silence, too.
  std::vector<std::string> kinds;
  for (extent i = 0; i < 12; ++i)
    kinds.push_back(p(i, 0) == 0 && p(i, 1) == 0 ? "silence" : p(i, 0) > p(i, 1) ? "first" : "second");
  EXPECT_EQ(kinds, (std::vector<std::string>{"first", "first", "first", "first", "silence", "second", "second",
                                             "second", "second", "silence", "silence", "silence"}));
  EXPECT_EQ((std::vector<float>{kept.begin(), kept.begin() + 4}), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ((std::vector<float>{kept.begin() + 5, kept.begin() + 9}), (std::vector<float>{5, 6, 7, 8}));
  for (const int i : {4, 9, 10, 11}) EXPECT_EQ(kept[static_cast<std::size_t>(i)], state.mean_silence()(0, 0));
}

TEST(speaker_cache, silence_is_the_mean_of_its_rows) {
  nn::speaker_cache_options o = small();
  o.fifo_len = 0;
  o.spkcache_update_period = 1;
  nn::speaker_cache state(o, 1, 2);
  talk t;
  t.say(state, 3, {0.05f, 0.1f});
  EXPECT_EQ(state.silent_rows(), 3);
  EXPECT_EQ(state.mean_silence()(0, 0), 2);
  t.say(state, 1, {0.9f, 0.0f});
  EXPECT_EQ(state.silent_rows(), 3);
  t.say(state, 2, {0.0f, 0.0f});  // 5 and 6
  EXPECT_EQ(state.silent_rows(), 5);
  EXPECT_FLOAT_EQ(state.mean_silence()(0, 0), 17.0f / 5);
}

// Among equal scores the earliest row stays, so that results do not depend on a library's order.
TEST(speaker_cache, hours_of_noise) {
  nn::speaker_cache state(small(), 1, 2), other(small(), 1, 2);
  test::random_numbers random(7), same(7);
  talk t, u;
  for (int i = 0; i < 2000; ++i) {
    t.say(state, random.integer(1, 4), {random.uniform(), random.uniform()});
    u.say(other, same.integer(1, 4), {same.uniform(), same.uniform()});
    ASSERT_LE(state.cache_rows(), 12);
    ASSERT_LE(state.fifo_rows(), 3);
  }
  EXPECT_EQ(state.cache_rows(), 12);
  EXPECT_EQ(numbers(state.cache()), numbers(other.cache()));
  // Each speaker keeps some of the newest rows: they were boosted.
  EXPECT_GT(state.cache().maxCoeff(), static_cast<float>(t.spoken.size()) - 1000);
}

// Weights of a damaged file may make anything; what comes out makes no sense, and does no harm.
TEST(speaker_cache, probabilities_that_are_no_numbers) {
  nn::speaker_cache state(small(), 1, 2);
  talk t;
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 60; ++i) {
    t.say(state, 3, {i % 3 == 0 ? none : 0.9f, i % 2 == 0 ? none : 0.1f});
    ASSERT_LE(state.cache_rows(), 12);
  }
  EXPECT_EQ(state.cache_rows(), 12);
}

}  // namespace speaker_cache_test
