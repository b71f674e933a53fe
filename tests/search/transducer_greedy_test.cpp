// The greedy search of transducers on written tables: blanks, several labels at a frame, durations, limits, pieces.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/transducer_greedy.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace transducer_greedy_test {

using namespace steno;

struct decoded {
  std::vector<std::array<extent, 3>> steps;  // frame, label, duration
  extent next = 0;
};

// Labels 0, 1 and blank 2; `choose(frame, labels so far)` is what scores best, with a duration's index.
template <class F>
decoded run(const search::transducer_rules& rules, extent from, extent frames, F&& choose) {
  decoded h;
  std::vector<float> scores(static_cast<std::size_t>(rules.blank) + 1 + rules.durations.size());
  extent emitted = 0;
  h.next = search::transducer_greedy(
      rules, from, frames,
      [&](extent t) {
        const auto [label, duration] = choose(t, emitted);
        std::fill(scores.begin(), scores.end(), -1.0f);
        scores[static_cast<std::size_t>(label)] = 0;
        if (!rules.durations.empty()) scores[static_cast<std::size_t>(rules.blank + 1 + duration)] = 0;
        return scores.data();
      },
      [&](const search::transducer_step& s, const float*) {
        h.steps.push_back({s.frame, s.label, s.duration});
        emitted += s.label != rules.blank;
      });
  return h;
}

TEST(transducer_greedy, labels_until_blank_or_the_limit) {
  const search::transducer_rules rules{.blank = 2, .max_symbols = 3};
  // Frame 0: blank. Frame 1: two labels, blank. Frame 2: labels for ever.
  const decoded h = run(rules, 0, 3, [](extent t, extent emitted) {
    return std::pair<int, int>(t == 0 ? 2 : t == 1 ? (emitted < 2 ? 1 : 2) : 0, 0);
  });
  EXPECT_EQ(h.steps, (std::vector<std::array<extent, 3>>{
                         {0, 2, 1}, {1, 1, 0}, {1, 1, 0}, {1, 2, 1}, {2, 0, 0}, {2, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(h.next, 3);
}

TEST(transducer_greedy, durations_skip_frames_for_blank_as_well) {
  const int durations[] = {0, 1, 4};
  const search::transducer_rules rules{.blank = 2, .durations = durations, .max_symbols = 10};
  // Label with 4, blank with 1, label with 0 and then with 4: behind the end.
  const std::pair<int, int> script[] = {{0, 2}, {2, 1}, {1, 0}, {1, 2}};
  std::size_t at = 0;
  const decoded h = run(rules, 0, 7, [&](extent, extent) { return script[at++]; });
  EXPECT_EQ(h.steps, (std::vector<std::array<extent, 3>>{{0, 0, 4}, {4, 2, 1}, {5, 1, 0}, {5, 1, 4}}));
  EXPECT_EQ(h.next, 9);
}

// The oddity of the original: the last of max_symbols steps may have a duration, and one frame more is added.
TEST(transducer_greedy, the_limit_adds_a_frame_to_the_last_duration) {
  const int durations[] = {0, 1, 2};
  const search::transducer_rules rules{.blank = 2, .durations = durations, .max_symbols = 2};
  const std::pair<int, int> script[] = {{2, 0}, {2, 0}, {0, 0}, {0, 2}, {2, 1}};
  std::size_t at = 0;
  const decoded h = run(rules, 0, 5, [&](extent, extent) { return script[at++]; });
  EXPECT_EQ(h.steps, (std::vector<std::array<extent, 3>>{{0, 2, 0}, {0, 2, 0}, {1, 0, 0}, {1, 0, 2}, {4, 2, 1}}));
  EXPECT_EQ(h.next, 5);
}

TEST(transducer_greedy, goes_on_where_the_rows_ended) {
  const search::transducer_rules rules{.blank = 2, .max_symbols = 3};
  const auto choose = [](extent t, extent) { return std::pair<int, int>(t == 99 ? 0 : 2, 0); };
  EXPECT_EQ(run(rules, 2, 4, choose).steps.front()[0], 2);
  EXPECT_EQ(run(rules, 4, 4, choose).next, 4);
  EXPECT_TRUE(run(rules, 4, 4, choose).steps.empty());
}

}  // namespace transducer_greedy_test
