// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/search/nemo_beam.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace nemo_beam_test {

using namespace steno;
using search::nemo_beam;

constexpr int eos = 0, pad = 1;

// Log-probabilities of what follows a text, which is all of it.
class tree {
 public:
  explicit tree(std::map<std::vector<int>, std::vector<float>> rows) : rows_(std::move(rows)) {}
  search::nemo_beam_result search(search::nemo_beam_options o) {
    o.eos = eos;
    o.pad = pad;
    texts_.assign(1, {});
    const std::vector<float> first = of({});
    const auto width = static_cast<extent>(first.size());
    return nemo_beam(
        o, core::make_view(first.data(), 1, width), [&](std::span<const int> ids, std::span<const int> sources) {
          std::vector<std::vector<int>> next;
          scores_.clear();
          for (std::size_t b = 0; b < ids.size(); ++b) {
            next.push_back(texts_[static_cast<std::size_t>(sources[b])]);
            next.back().push_back(ids[b]);
            for (const float x : of(next.back())) scores_.push_back(x);
          }
          texts_ = next;
          ++steps;
          return core::make_view(static_cast<const float*>(scores_.data()), static_cast<extent>(ids.size()), width);
        });
  }
  int steps = 0;

 private:
  std::vector<float> of(const std::vector<int>& text) const {
    const auto found = rows_.find(text);
    std::vector<float> p = found == rows_.end() ? std::vector<float>{0.97f, 0.01f, 0.01f, 0.01f} : found->second;
    for (float& x : p) x = std::log(x);
    return p;
  }
  std::map<std::vector<int>, std::vector<float>> rows_;
  std::vector<std::vector<int>> texts_;
  std::vector<float> scores_;
};

TEST(nemo_beam, one_is_greedy) {
  tree t({{{}, {0.1f, 0.1f, 0.7f, 0.1f}}, {{2}, {0.1f, 0.1f, 0.2f, 0.6f}}});
  const auto r = t.search({.max_steps = 10});
  ASSERT_EQ(r.beams.size(), 1u);
  EXPECT_EQ(r.beams[0].ids, (std::vector<int>{2, 3}));
  EXPECT_TRUE(r.beams[0].ended);
  EXPECT_NEAR(r.beams[0].score, std::log(0.7 * 0.6 * 0.97), 1e-6);
  EXPECT_NEAR(r.beams[0].log_probabilities[1], std::log(0.6f), 1e-6f);
  EXPECT_EQ(t.steps, 2);
}

TEST(nemo_beam, ends_where_there_is_no_step_left) {
  tree t({{{}, {0.1f, 0.1f, 0.7f, 0.1f}}, {{2}, {0.1f, 0.1f, 0.2f, 0.6f}}});
  EXPECT_FALSE(t.search({.max_steps = 1}).beams[0].ended);
  EXPECT_EQ(t.search({.max_steps = 0}).beams[0].ids, (std::vector<int>{2}));
  EXPECT_EQ(t.search({.max_steps = -5}).beams[0].ids, (std::vector<int>{2}));
}

// In the first step nobody looks whether a text has ended: it goes on, and the end token stays where others follow.
TEST(nemo_beam, the_first_end_is_overlooked) {
  tree t({{{}, {0.9f, 0.05f, 0.03f, 0.02f}}, {{0}, {0.1f, 0.1f, 0.2f, 0.6f}}});
  EXPECT_EQ(t.search({.max_steps = 10}).beams[0].ids, (std::vector<int>{0, 3}));
  tree ended({{{}, {0.9f, 0.05f, 0.03f, 0.02f}}});
  EXPECT_EQ(ended.search({.max_steps = 10}).beams[0].ids, std::vector<int>{});
}

// The best text is found behind a token that is not the best at first; one that has ended waits for the others.
TEST(nemo_beam, two_find_what_one_does_not) {
  const std::map<std::vector<int>, std::vector<float>> rows = {
      {{}, {0.01f, 0.01f, 0.5f, 0.48f}}, {{2}, {0.4f, 0.2f, 0.2f, 0.2f}}, {{3}, {0.01f, 0.01f, 0.97f, 0.01f}}};
  EXPECT_EQ(tree(rows).search({.max_steps = 10}).beams[0].ids, (std::vector<int>{2}));
  const auto r = tree(rows).search({.search = {.beam = 2}, .max_steps = 10});
  EXPECT_EQ(r.beams[r.best].ids, (std::vector<int>{3, 2}));
  EXPECT_NEAR(r.beams[r.best].score, std::log(0.48 * 0.97 * 0.97), 1e-6);
  EXPECT_EQ(r.beams[1 - r.best].ids, (std::vector<int>{2}));
}

// More texts than tokens: as many as there are.
TEST(nemo_beam, wide_beams_and_what_is_refused) {
  tree t({});
  EXPECT_EQ(t.search({.search = {.beam = 50}, .max_steps = 3}).beams.size(), 4u);
  const std::vector<std::vector<int>> phrases = {{2, 3}};
  const search::hotword_automaton words(phrases, {});
  EXPECT_THROW((void)t.search({.search = {.hotwords = &words}, .max_steps = 3}), error);
}

}  // namespace nemo_beam_test
