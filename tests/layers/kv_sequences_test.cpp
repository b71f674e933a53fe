// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/kv_sequences.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kv_sequences_test {

using namespace steno;

struct call {
  extent first, count, position;
  std::vector<extent> rows;
  bool in_a_row;
  bool operator==(const call&) const = default;
};
std::vector<call> parts(const nn::kv_sequences& s) {
  std::vector<call> all;
  s.each_part([&](const nn::kv_sequences::part& p) {
    all.push_back({p.first, p.count, p.position(0), {p.rows.begin(), p.rows.end()}, p.in_a_row()});
  });
  return all;
}
TEST(kv_sequences, one_text_lies_in_a_row_and_is_rewound) {
  nn::kv_sequences s;
  EXPECT_EQ(s.length(), 0);
  s.extend(3);
  EXPECT_EQ(s.before(), 0);
  EXPECT_EQ(s.added(), 3);
  s.extend(2);
  EXPECT_EQ(s.before(), 3);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 2, 3, {0, 1, 2, 3, 4}, true}}));
  s.rewind(1);
  EXPECT_EQ(s.length(), 1);
  s.extend(2);
  EXPECT_EQ(s.before(), 1);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 2, 1, {0, 1, 2}, true}}));
  s.rewind(9);
  EXPECT_EQ(s.length(), 3);
  s.clear();
  EXPECT_EQ(s.size(), 0);
  s.extend(1);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 1, 0, {0}, true}}));
}

TEST(kv_sequences, beams_share_what_came_before_they_forked) {
  nn::kv_sequences s;
  s.extend(2);
  s.fork(std::vector<int>{0, 0, 0});
  s.extend_each(3);
  EXPECT_EQ(parts(s),
            (std::vector<call>{{0, 1, 2, {0, 1, 2}, true}, {1, 1, 2, {0, 1, 3}, false}, {2, 1, 2, {0, 1, 4}, false}}));
  s.fork(std::vector<int>{2, 0});
  s.extend_each(2);
  EXPECT_EQ(s.before(), 5);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 1, 3, {0, 1, 4, 5}, false}, {1, 1, 3, {0, 1, 2, 6}, false}}));
}

TEST(kv_sequences, texts_lie_in_one_cache_and_end_one_by_one) {
  nn::kv_sequences s;
  s.extend(2, 0);
  s.extend(3, 1);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 3, 0, {2, 3, 4}, true}}));
  s.extend_each(std::vector<int>{0, 1});
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 1, 2, {0, 1, 5}, false}, {1, 1, 3, {2, 3, 4, 6}, false}}));
  s.extend_each(std::vector<int>{1});
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 1, 4, {2, 3, 4, 6, 7}, false}}));
  EXPECT_EQ(s.length(0), 3);
  EXPECT_EQ(s.length(1), 5);
  // What a rewound text leaves is used again only when nothing lies behind it.
  s.rewind(2, 0);
  s.extend(1, 0);
  EXPECT_EQ(s.before(), 8);
  s.rewind(3, 1);
  s.rewind(2, 0);
  s.extend(1, 1);
  EXPECT_EQ(s.before(), 5);
}

TEST(kv_sequences, whole_hypotheses_begin_anew) {
  nn::kv_sequences s;
  s.extend(4);
  s.begin_with(std::vector<extent>{0, 2, 2, 5});
  EXPECT_EQ(s.before(), 0);
  EXPECT_EQ(s.added(), 5);
  EXPECT_EQ(parts(s), (std::vector<call>{{0, 2, 0, {0, 1}, true}, {2, 0, 0, {}, true}, {2, 3, 0, {2, 3, 4}, true}}));
}

TEST(kv_sequences, warm_steps_allocate_nothing) {
  nn::kv_sequences s;
  const std::vector<int> first{0, 0, 0}, turned{2, 1, 0};
  const auto run = [&] {
    s.clear();
    s.extend(10);
    s.fork(first);
    for (int i = 0; i < 100; ++i) {
      s.extend_each(3);
      s.fork(turned);
    }
  };
  run();
  run();
  const test::allocation_counter counted;
  run();
  EXPECT_EQ(counted.so_far(), 0u);
}

}  // namespace kv_sequences_test
