// Scores that are no numbers: refused where a model computed them, and harmless where somebody searches in them.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/scores.hpp>

#include <steno/search/ctc_prefix_beam.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace scores_test {

using namespace steno;

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

TEST(scores, numbers_are_required) {
  std::vector<float> v(3 * 40, -1.0f);
  const view<const float> x =
      core::make_view(static_cast<const float*>(v.data()), 3, 33, 40);  // the rest of a row is not its
  EXPECT_NO_THROW(search::require_numbers(x, {}));
  EXPECT_NO_THROW(search::require_finite(x, {}));
  v[39] = no_number;
  EXPECT_NO_THROW(search::require_finite(x, {}));
  v[40 + 32] = -infinity;
  EXPECT_NO_THROW(search::require_numbers(x, {}));
  EXPECT_THROW(search::require_finite(x, {}), error);
  v[40 + 32] = infinity;
  EXPECT_THROW(search::require_finite(x, {}), error);
  v[80] = no_number;
  EXPECT_THROW(search::require_numbers(x, {}), error);
}

// Rows with NaN and minus infinity in them, also nothing else: every hypothesis has a time for each label.
TEST(ctc_prefix_beam, has_a_time_for_each_label_whatever_the_scores) {
  test::random_numbers random(11);
  for (int round = 0; round < 3000; ++round) {
    const extent labels = random.integer(2, 6), frames = random.integer(1, 12);
    std::vector<float> v(static_cast<std::size_t>(frames * labels));
    const float share = random.uniform();
    for (float& x : v) {
      x = std::log(random.uniform(0.001f, 1));
      if (random.uniform() < share) x = random.uniform() < 0.5f ? no_number : -infinity;
    }
    const auto blank = static_cast<int>(random.integer(0, labels - 1));
    const extent first = random.integer(1, labels), second = random.integer(1, 10);
    search::ctc_prefix_beam search({.search = {.beam = second}, .blank = blank, .labels = first});
    search.advance(core::make_view(static_cast<const float*>(v.data()), frames, labels));
    search.finish();
    for (extent i = 0; i < search.size(); ++i) {
      ASSERT_EQ(search.times(i).size(), search.ids(i).size()) << "round " << round;
      for (const extent t : search.times(i)) ASSERT_TRUE(t >= 0 && t < frames);
      if (i > 0) {
        ASSERT_LE(search.score(i), search.score(i - 1));
      }
    }
  }
}

}  // namespace scores_test
