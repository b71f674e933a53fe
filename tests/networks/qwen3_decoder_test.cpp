#include <steno/core/thread_pool.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/networks/qwen3_writing.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

#include <vector>

using namespace steno;

namespace {
using decoder = qwen3_decoder<32, 4, 2, 8, 48, 50, 3>;
using rows = matrix<float, dynamic, 32>;
struct fixture {
  fixture() { randomise(model, keep, 5); }
  storage keep;
  decoder model;
};
rows prompt_of(const decoder& m, const std::vector<int>& ids) {
  rows x(static_cast<extent>(ids.size()), 32);
  m.embed(ids, x);
  return x;
}
const std::vector<int> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6};
}  // namespace

// 2e-5: one row reads keys in place, many read them packed, so sums run in another order; rows are near 1.
TEST(qwen3_decoder, a_prompt_is_the_same_in_pieces) {
  const fixture f;
  context c;
  rows whole = prompt_of(f.model, ids);
  qwen3_past past;
  f.model(whole, past, c);
  EXPECT_EQ(past.length(), 21);
  for (const extent piece : {1, 2, 9, 20}) {
    rows x = prompt_of(f.model, ids);
    qwen3_past other;
    for (extent t = 0; t < x.rows(); t += piece) f.model(x.middleRows(t, std::min(piece, x.rows() - t)), other, c);
    EXPECT_LE((x - whole).cwiseAbs().maxCoeff(), 2e-5f) << piece;
  }
}

TEST(qwen3_decoder, a_rewound_past_is_forgotten) {
  const fixture f;
  context c;
  rows x = prompt_of(f.model, ids), again = prompt_of(f.model, ids);
  qwen3_past past;
  f.model(x, past, c);
  past.rewind(7);
  rows other = prompt_of(f.model, {11, 12, 13});
  f.model(other, past, c);
  EXPECT_EQ(past.length(), 10);
  past.rewind(7);
  f.model(again.bottomRows(14), past, c);
  EXPECT_LE((again.bottomRows(14) - x.bottomRows(14)).cwiseAbs().maxCoeff(), 2e-5f);  // as above
}

TEST(qwen3_decoder, threads_change_nothing) {
  const fixture f;
  context one;
  rows x = prompt_of(f.model, ids), y = prompt_of(f.model, ids);
  qwen3_past past, other;
  f.model(x, past, one);
  thread_pool pool(2);
  context two{executor(pool)};
  f.model(y, other, two);
  EXPECT_EQ(x, y);
}

TEST(qwen3_decoder, writing_stops_at_ends_limits_and_circles) {
  const fixture f;
  context c;
  const auto write = [&](const std::vector<int>& ends, int most) {
    rows x = prompt_of(f.model, ids);
    qwen3_past past;
    qwen3_read(f.model, view<float, dynamic, 32>(x), past, c);
    return qwen3_write(f.model, view<float, dynamic, 32>(x.bottomRows(1)), past, ends, most, c);
  };
  const qwen3_text some = write({}, 5);
  EXPECT_EQ(some.stop, qwen3_stop::max_tokens);
  ASSERT_EQ(some.ids.size(), 5u);
  const qwen3_text none = write({some.ids[0]}, 5);
  EXPECT_EQ(none.stop, qwen3_stop::end_of_text);
  EXPECT_TRUE(none.ids.empty());
  // Random weights turn in circles sooner or later; all but one round is taken away.
  const qwen3_text circle = write({}, 2000);
  EXPECT_EQ(circle.stop, qwen3_stop::repetition);
  EXPECT_EQ(repeated_pattern(circle.ids), 0u);
}

TEST(repeated_pattern, short_patterns_need_more_rounds) {
  const auto rounds = [](const std::vector<int>& pattern, int count) {
    std::vector<int> all = {90, 91, 92};
    for (int i = 0; i < count; ++i) all.insert(all.end(), pattern.begin(), pattern.end());
    return repeated_pattern(all);
  };
  EXPECT_EQ(rounds({1}, 23), 0u);
  EXPECT_EQ(rounds({1}, 24), 1u);
  EXPECT_EQ(rounds({1, 2}, 11), 0u);
  EXPECT_EQ(rounds({1, 2}, 12), 2u);
  EXPECT_EQ(rounds({1, 2, 3, 4, 5, 6, 7}, 3), 0u);
  EXPECT_EQ(rounds({1, 2, 3, 4, 5, 6, 7}, 4), 7u);
  EXPECT_EQ(repeated_pattern(std::vector<int>{}), 0u);
}
