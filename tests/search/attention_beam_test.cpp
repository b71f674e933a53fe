// The beam search of the attention decoder on a table: next unit depends on the last one only.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/attention_beam.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attention_beam_test {

using namespace steno;

constexpr int sos = 0, eos = 3;
// Probability of the next unit (columns) after the last (rows): 0 -> 1 or 2; 1 -> 1 or eos; 2 -> eos.
const float chances[4][4] = {{0.01f, 0.55f, 0.43f, 0.01f},
                             {0.01f, 0.60f, 0.01f, 0.38f},
                             {0.01f, 0.01f, 0.01f, 0.97f},
                             {0.25f, 0.25f, 0.25f, 0.25f}};

search::attention_result search_for(extent beams, double penalty, extent max_steps) {
  matrix<float, dynamic, dynamic> rows;
  return search::attention_beam(
      {.search = {.beam = beams, .length_penalty = penalty}, .sos = sos, .eos = eos, .max_steps = max_steps},
      [&](std::span<const int> ids, std::span<const int> parents) -> view<const float> {
        EXPECT_EQ(ids.size(), parents.size());
        rows.resize(static_cast<extent>(ids.size()), 4);
        for (std::size_t b = 0; b < ids.size(); ++b)
          for (int i = 0; i < 4; ++i) rows(static_cast<extent>(b), i) = std::log(chances[ids[b]][i]);
        return core::read(rows);
      });
}

TEST(attention_beam, a_wider_beam_finds_the_likelier_sequence) {
  const search::attention_result greedy = search_for(1, 0, 10);
  EXPECT_EQ(greedy.ids, std::vector<int>(10, 1));  // never ends: taken as it is
  EXPECT_EQ(greedy.steps, 10);
  const search::attention_result wide = search_for(2, 0, 10);
  EXPECT_EQ(wide.ids, std::vector<int>{2});
  EXPECT_NEAR(wide.score, std::log(0.43) + std::log(0.97), 1e-5);  // float sums
}
TEST(attention_beam, the_penalty_favours_length) {
  const search::attention_result r = search_for(2, 2, 10);
  EXPECT_EQ(r.ids, std::vector<int>(10, 1));
}
TEST(attention_beam, no_frames_give_nothing) {
  const search::attention_result r = search_for(3, 0, 0);
  EXPECT_TRUE(r.ids.empty());
  EXPECT_EQ(r.steps, 0);
}

TEST(attention_beam, hotwords_are_refused) {
  const std::vector<std::vector<int>> phrases = {{1, 2}};
  const search::hotword_automaton graph(phrases, {});
  const auto none = [](std::span<const int>, std::span<const int>) { return view<const float>(nullptr, 0, 0); };
  EXPECT_THROW(search::attention_beam({.search = {.hotwords = &graph}, .max_steps = 1}, none), error);
}

}  // namespace attention_beam_test
