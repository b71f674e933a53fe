// mAES against NeMo's searches over tables of scores (tests/golden/parakeet/beam.json, made by
// make_transducer_beam.py); hotwords; how frames are portioned.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/transducer_beam.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace transducer_beam_test {

using namespace steno;
using nlohmann::json;

/// scores = frame table [t] + label table [last label]; a node is that label's row.
struct tables {
  explicit tables(const json& c)
      : frames(c["frame_table"].get<std::vector<std::vector<float>>>()),
        labels(c["label_table"].get<std::vector<std::vector<float>>>()),
        durations(c["durations"].get<std::vector<int>>()) {}

  int extend(int, int label) const { return label + 1; }
  view<const float> joint(extent t, std::span<const int> nodes) {
    const std::vector<float>& frame = frames[static_cast<std::size_t>(t)];
    scores.resize(static_cast<extent>(nodes.size()), static_cast<extent>(frame.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& after = nodes[i] == 0 ? labels.back() : labels[static_cast<std::size_t>(nodes[i] - 1)];
      for (std::size_t k = 0; k < frame.size(); ++k)
        scores(static_cast<extent>(i), static_cast<extent>(k)) = frame[k] + after[k];
    }
    return core::read(scores);
  }
  void keep(std::span<const int> nodes) { EXPECT_FALSE(nodes.empty()); }
  search::transducer_beam_options options(const json& c, const search::hotword_automaton* hotwords = nullptr) const {
    return {.search = {.beam = c["beam"].get<extent>(), .hotwords = hotwords},
            .blank = static_cast<int>(labels.size()) - 1,
            .durations = durations,
            .steps = c["steps"].get<extent>()};
  }

  std::vector<std::vector<float>> frames, labels;
  std::vector<int> durations;
  matrix<float, dynamic, dynamic> scores;
};

json cases() {
  std::ifstream in(test::compact() / "parakeet" / "beam.json");
  return json::parse(in);
}

TEST(transducer_beam, finds_what_the_original_finds) {
  int number = 0;
  for (const json& c : cases()) {
    SCOPED_TRACE(number++);
    tables t(c);
    for (const extent portion : {extent{1}, extent{12}}) {
      search::transducer_beam search(t.options(c));
      for (extent at = 0; at < 12; at += portion) search.advance(t, at, at + portion);
      search.finish();
      const auto found = search.hypotheses();
      const json& want = c["hypotheses"];
      ASSERT_EQ(found.size(), want.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].ids, want[i]["ids"].get<std::vector<int>>()) << i;
        // The tables are rounded to floats here and kept as doubles there; scores are sums of up to 30 values.
        EXPECT_NEAR(found[i].score, want[i]["score"].get<double>(), 1e-4) << i;
        std::vector<extent> times = found[i].frames;
        for (std::size_t k = 0; k < times.size(); ++k) times[k] += found[i].durations[k];
        EXPECT_EQ(times, want[i]["timestamps"].get<std::vector<extent>>()) << i;
      }
    }
  }
}

TEST(transducer_beam, phrases_are_favoured) {
  for (const json& c : {cases()[1], cases()[4]}) {
    tables t(c);
    const std::vector<std::vector<int>> phrases{{2, 2, 5}};
    const search::hotword_automaton none(phrases, {.score = 0}), strong(phrases, {.score = 8});
    const auto best = [&](const search::hotword_automaton& g) {
      search::transducer_beam search(t.options(c, &g));
      search.advance(t, 0, 12);
      search.finish();
      return search.hypotheses()[0].ids;
    };
    const auto holds = [&](const std::vector<int>& ids) {
      return std::search(ids.begin(), ids.end(), phrases[0].begin(), phrases[0].end()) != ids.end();
    };
    EXPECT_FALSE(holds(best(none)));
    EXPECT_TRUE(holds(best(strong)));
  }
}

TEST(transducer_beam, what_all_hypotheses_share_can_be_settled) {
  for (const json& c : cases()) {
    tables t(c);
    const search::hotword_automaton graph(std::vector<std::vector<int>>{{2, 5}, {1}}, {.score = 1});
    search::transducer_beam whole(t.options(c, &graph)), settled(t.options(c, &graph));
    std::vector<int> ids;
    for (extent at = 0; at < 12; ++at) {
      whole.advance(t, at, at + 1);
      settled.advance(t, at, at + 1);
      const std::size_t n = settled.agreed(), best = settled.best();
      const auto& first = settled.hypotheses()[best].ids;
      ids.insert(ids.end(), first.begin(), first.begin() + static_cast<std::ptrdiff_t>(n));
      settled.settle(n, best);
      ASSERT_EQ(settled.hypotheses().size(), whole.hypotheses().size());
    }
    whole.finish();
    settled.finish();
    ids.insert(ids.end(), settled.hypotheses()[0].ids.begin(), settled.hypotheses()[0].ids.end());
    EXPECT_EQ(ids, whole.hypotheses()[0].ids);
    EXPECT_EQ(settled.hypotheses()[0].total(), whole.hypotheses()[0].total());
  }
}

TEST(transducer_beam, the_best_hypothesis_may_decide_alone) {
  const json c = cases()[0];
  tables t(c);
  search::transducer_beam search(t.options(c));
  search.advance(t, 0, 12);
  const std::size_t best = search.best();
  const std::vector<int> ids = search.hypotheses()[best].ids;
  ASSERT_GT(ids.size(), 1u);
  search.settle(ids.size(), best);
  for (const auto& h : search.hypotheses()) EXPECT_TRUE(h.ids.empty() || h.ids.size() < 4);
  EXPECT_TRUE(search.hypotheses()[search.best()].ids.empty());
}

}  // namespace transducer_beam_test
