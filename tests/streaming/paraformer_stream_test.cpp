// Streams of an online Paraformer: any split of the samples gives the same events, short streams and last pieces, ends
// of utterances, hotwords, memory.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/streaming/paraformer_stream.hpp>

#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace paraformer_stream_test {

using namespace steno;

using model_type = funasr::paraformer_online_any;

model_type small() { return load<model_type>((test::compact() / "paraformer_online" / "model.gguf").string()); }

std::vector<float> noise(std::size_t n, std::uint64_t seed) {
  std::vector<float> pcm = test::random_numbers(seed).vector(n, -0.3f, 0.3f);
  for (std::size_t i = 0; i < n; ++i) pcm[i] *= 0.1f + std::fabs(std::sin(static_cast<float>(i) / 9000));
  return pcm;
}

struct event {
  streaming::stream_event_kind kind;
  bool endpoint;
  std::vector<int> ids;
  std::vector<float> log_probs;
  extent stable, offset, decoded_ms;
  bool operator==(const event&) const = default;
};

std::vector<event> listen(const model_type& m, const funasr::paraformer_stream_options& o, std::span<const float> pcm,
                          const std::vector<std::size_t>& portions, const executor& run = {}) {
  context c(run);
  std::vector<event> all;
  const auto sink = [&](const funasr::paraformer_event& e) {
    all.push_back({e.kind,
                   e.endpoint,
                   {e.ids.begin(), e.ids.end()},
                   {e.log_probabilities.begin(), e.log_probabilities.end()},
                   e.stable,
                   e.offset_ms,
                   e.decoded_ms});
  };
  funasr::paraformer_stream<model_type> s(m, o);
  test::play(s, pcm, portions, c, sink);
  EXPECT_TRUE(s.over());
  return all;
}

// Lengths around a piece and a frame: the last piece is whole, missing, or too short to be heard.
TEST(paraformer_stream, results_do_not_depend_on_the_portions) {
  const auto model = small();
  for (const nn::chunk_sizes& sizes : {model.default_sizes, nn::chunk_sizes{.before = 5, .size = 4, .after = 2}}) {
    const auto piece = static_cast<std::size_t>(model_type::piece_samples(sizes));
    for (const std::size_t n : {3 * piece, 3 * piece + 1, 3 * piece + 959, 3 * piece + 960, 4 * piece - 1}) {
      const std::vector<float> pcm = noise(n, 11 + n);
      const funasr::paraformer_stream_options o{.sizes = sizes};
      const auto whole = listen(model, o, pcm, {n});
      ASSERT_FALSE(whole.empty());
      EXPECT_EQ(whole.back().kind, streaming::stream_event_kind::final);
      EXPECT_FALSE(whole.back().ids.empty());
      for (const std::vector<std::size_t>& portions :
           {std::vector<std::size_t>{1}, {160}, {piece}, {piece - 1, 2}, {7, 4001, 333}, {2 * piece + 5}})
        EXPECT_EQ(listen(model, o, pcm, portions), whole) << n << " in portions of " << portions[0];
    }
  }
}

TEST(paraformer_stream, tokens_stay_once_they_are_said) {
  const auto model = small();
  const auto events = listen(model, {.sizes = model.default_sizes, .endpoint_pieces = 0}, noise(100000, 3), {1600});
  std::vector<int> before;
  ASSERT_GT(events.size(), 5u);
  for (const event& e : events) {
    ASSERT_GE(e.ids.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), e.ids.begin()));
    before = e.ids;
  }
}

TEST(paraformer_stream, an_utterance_ends_after_pieces_without_a_token) {
  auto model = small();
  const std::vector<float> pcm = noise(96000, 5);
  const auto speaking = listen(model, {.sizes = model.default_sizes, .endpoint_pieces = 0}, pcm, {9600});
  // From here on nothing is said: a bias that no frame overcomes.
  std::vector<float> quiet{-100.0f};
  context c;
  std::vector<event> events;
  funasr::paraformer_stream<model_type> s(model, {.sizes = model.default_sizes, .endpoint_pieces = 3});
  const auto sink = [&](const funasr::paraformer_event& e) {
    events.push_back({e.kind, e.endpoint, {e.ids.begin(), e.ids.end()}, {}, e.stable, e.offset_ms, e.decoded_ms});
  };
  s.push(std::span(pcm).first(9600 * 4), c, sink);
  const std::size_t partials = events.size();
  const float* loud = model.predictor.cif_output.b.floats();
  model.predictor.cif_output.b.assign(Eigen::Map<const Eigen::RowVectorXf>(quiet.data(), 1));
  s.push(std::span(pcm).subspan(9600 * 4, 9600 * 4), c, sink);
  ASSERT_EQ(events.size(), partials + 1);
  EXPECT_TRUE(events.back().endpoint);
  EXPECT_EQ(events.back().kind, streaming::stream_event_kind::final);
  EXPECT_EQ(events.back().ids, speaking[partials - 1].ids);
  EXPECT_EQ(events.back().decoded_ms, 7 * 600);
  model.predictor.cif_output.b.assign(Eigen::Map<const Eigen::RowVectorXf>(loud, 1));
  s.push(std::span(pcm).subspan(9600 * 8), c, sink);
  s.finish(c, sink);
  EXPECT_FALSE(events.back().endpoint);
  EXPECT_FALSE(events.back().ids.empty());
  EXPECT_EQ(events.back().offset, 8 * 600);
}

TEST(paraformer_stream, empty_and_tiny_streams_end) {
  const auto model = small();
  EXPECT_EQ(listen(model, {.sizes = model.default_sizes}, {}, {1}).size(), 1u);
  for (const std::size_t n : {1u, 959u, 960u, 9599u}) {
    const auto events = listen(model, {.sizes = model.default_sizes}, std::vector<float>(n), {n});
    ASSERT_EQ(events.size(), 1u) << n;
    EXPECT_EQ(events[0].kind, streaming::stream_event_kind::final);
  }
}

// Pairs of tokens that come after one another, and begin alike.
search::hotword_automaton pairs(const model_type& m, float score) {
  std::vector<std::vector<int>> phrases;
  for (int id = 3; id < static_cast<int>(m.tokenizer.size()); ++id) {
    phrases.push_back({id, 3 + (id * 7) % 11});
    phrases.push_back({id, 3 + (id * 5) % 13, 4});
  }
  return search::hotword_automaton(phrases, {.score = score});
}

TEST(paraformer_stream, hotwords_give_what_the_recording_gives_in_any_portions) {
  const auto model = small();
  const std::vector<float> pcm = noise(9600 * 12 + 4000, 21);
  context c;
  const segment plain = model.recognise(pcm, {}, c);
  std::size_t others = 0;
  for (const float score : {0.5f, 1.0f, 2.0f}) {  // with more, phrases chain for longer than the limit
    const search::hotword_automaton g = pairs(model, score);
    const funasr::paraformer_stream_options o{
        .sizes = model.default_sizes, .endpoint_pieces = 0, .search = {.hotwords = &g}};
    const auto whole = listen(model, o, pcm, {pcm.size()});
    for (const std::vector<std::size_t>& portions : {std::vector<std::size_t>{160}, {7, 4001, 333}, {9599, 2}})
      EXPECT_EQ(listen(model, o, pcm, portions), whole) << portions[0];
    thread_pool pool(3);
    EXPECT_EQ(listen(model, o, pcm, {pcm.size()}, executor(pool)), whole);
    const segment recording = model.recognise(pcm, {.beam = 1, .hotwords = &g}, c);
    EXPECT_EQ(whole.back().ids, recording.token_ids) << score;
    EXPECT_EQ(recording.alternatives.size(), 10u);
    others += recording.token_ids != plain.token_ids;
    // What is stable stays: there are Chinese characters or none.
    std::vector<int> stable;
    for (const event& e : whole) {
      ASSERT_GE(e.ids.size(), stable.size());
      EXPECT_TRUE(std::equal(stable.begin(), stable.end(), e.ids.begin()));
      EXPECT_EQ(e.log_probs.size(), e.ids.size());
      stable.assign(e.ids.begin(), e.ids.begin() + static_cast<std::ptrdiff_t>(e.stable));
    }
  }
  EXPECT_GT(others, 0u);  // or they do nothing
}

TEST(paraformer_stream, a_list_that_is_empty_is_none_and_a_language_model_is_refused) {
  const auto model = small();
  const std::vector<float> pcm = noise(60000, 4);
  const search::hotword_automaton none;
  EXPECT_EQ(listen(model, {.sizes = model.default_sizes, .search = {.beam = 8, .hotwords = &none}}, pcm, {9600}),
            listen(model, {.sizes = model.default_sizes}, pcm, {9600}));
  const auto make = [&](const search::search_options& o) {
    return test::refusal(
        [&] { funasr::paraformer_stream<model_type>(model, {.sizes = model.default_sizes, .search = o}); });
  };
  EXPECT_NE(make({.length_penalty = 1.0}), "");
  EXPECT_EQ(make({.beam = 3}), "");
}

// Each utterance is a text of its own, and a stream that begins again finds the same.
TEST(paraformer_stream, hotwords_begin_again_with_each_utterance) {
  const auto model = small();
  const std::vector<float> pcm = noise(9600 * 12, 6);
  const search::hotword_automaton g = pairs(model, 4);
  const funasr::paraformer_stream_options o{
      .sizes = model.default_sizes, .max_utterance_frames = 40, .search = {.hotwords = &g}};
  context c;
  funasr::paraformer_stream<model_type> s(model, o);
  std::vector<std::vector<int>> rounds[2];
  for (auto& finals : rounds) {
    const auto sink = [&](const funasr::paraformer_event& e) {
      if (e.kind == streaming::stream_event_kind::final) finals.emplace_back(e.ids.begin(), e.ids.end());
    };
    s.push(pcm, c, sink);
    s.finish(c, sink);
    s.reset();
  }
  EXPECT_EQ(rounds[0], rounds[1]);
  EXPECT_GE(rounds[0].size(), 3u);
}

TEST(paraformer_stream, steady_streams_with_hotwords_allocate_nothing) {
  const auto model = small();
  const search::hotword_automaton g = pairs(model, 2);
  const std::vector<float> pcm = noise(9600 * 30, 8);
  context c;
  const auto ignore = [](const funasr::paraformer_event&) {};
  funasr::paraformer_stream<model_type> s(model, {.sizes = model.default_sizes, .search = {.hotwords = &g}});
  s.push(std::span(pcm).first(9600 * 20), c, ignore);
  test::allocation_counter counted;
  for (std::size_t at = 9600 * 20; at < pcm.size(); at += 1600) s.push(std::span(pcm).subspan(at, 1600), c, ignore);
  EXPECT_EQ(counted.so_far(), 0u);
}

TEST(paraformer_stream, steady_streams_allocate_nothing) {
  const auto model = small();
  const std::vector<float> pcm = noise(9600 * 30, 8);
  context c;
  const auto ignore = [](const funasr::paraformer_event&) {};
  funasr::paraformer_stream<model_type> s(model);
  s.push(std::span(pcm).first(9600 * 14), c, ignore);  // caches reach their size; 4 pieces are kept
  test::allocation_counter counted;
  for (std::size_t at = 9600 * 14; at < pcm.size(); at += 1600) s.push(std::span(pcm).subspan(at, 1600), c, ignore);
  EXPECT_EQ(counted.so_far(), 0u);
}

}  // namespace paraformer_stream_test
