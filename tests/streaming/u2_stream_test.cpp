// Streams of U2 models: endpoints and restarts on the golden tables of the original runtime, any split of the samples,
// memory.
// SPDX-License-Identifier: Apache-2.0
#include <steno/streaming/u2_stream.hpp>

#include "npy.hpp"
#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace u2_stream_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

const fs::path folder = test::compact() / "wenet";

// A "model" whose samples are feature frames and whose log-probabilities are the next rows of a table: what remains is
// the stream's own doing.
struct table_model {
  struct front_end {
    struct state {};
    struct {
      frontends::fbank_options o;
      const frontends::fbank_options& options() const { return o; }
    } head;
    extent width() const { return 1; }
    state start() const { return {}; }
    extent ready(const state&, extent n) const { return n; }
    extent at_end(const state&, extent n) const { return n; }
    void accept(state&, frontends::samples pcm, view<float> y, context&) const {
      std::copy(pcm.begin(), pcm.end(), y.data());
    }
    void finish(state&, frontends::samples, view<float>, context&) const {}
  };
  struct encoder_type {
    static constexpr extent input = dynamic, output = dynamic;
    struct state {};
    struct {
      core::setting<dynamic> rate{4};
      extent right_context() const { return 6; }
    } embed;
    template <core::fixed_string>
    const auto& get() const {
      return embed;
    }
    extent output_size() const { return 1; }
    extent rows(extent frames) const { return frames < 7 ? 0 : (frames - 7) / 4 + 1; }
    state start() const { return {}; }
    void operator()(view<const float>, view<float> y, state*, const nn::u2_env&, context&) const { y.setZero(); }
  };
  struct {
    int size() const { return 12; }
  } tokenizer;

  front_end frontend;
  encoder_type encoder;
  int blank = 0;
  matrix<float, dynamic, dynamic> log_probs;
  mutable extent next = 0;

  extent frame_ms() const { return 40; }
  void score(const view<float>& rows, float, view<float> y, context&) const {
    y = log_probs.middleRows(next, rows.rows());
    next += rows.rows();
  }
  std::vector<wenet::rescored> rescore(const view<const float>&, std::span<const search::ctc_hypothesis>, double,
                                       double, context&) const {
    return {};
  }
};

table_model golden_table() {
  const npy::array a = npy::load(folder / "endpoint_logp.npy");
  const std::vector<float> v = a.floats();
  table_model m;
  m.log_probs = core::make_view(v.data(), a.rows(), a.cols());
  return m;
}

wenet::u2_conformer_any small_model() { return load<wenet::u2_conformer_any>((folder / "model.gguf").string()); }

// Noise with a changing loudness, so that results are not constant.
std::vector<float> noise(std::size_t n, std::uint64_t seed) {
  std::vector<float> pcm = test::random_numbers(seed).vector(n, -0.3f, 0.3f);
  for (std::size_t i = 0; i < n; ++i) pcm[i] *= 0.1f + std::fabs(std::sin(static_cast<float>(i) / 9000));
  return pcm;
}

struct event {
  wenet::u2_event_kind kind;
  bool endpoint;
  std::vector<int> ids;
  std::vector<extent> times;
  extent stable, offset, decoded_ms;
  double score;
  bool operator==(const event&) const = default;
};
std::vector<event> listen(const wenet::u2_conformer_any& m, const wenet::u2_stream_options& o,
                          std::span<const float> pcm, const std::vector<std::size_t>& portions) {
  context c;
  std::vector<event> all;
  const auto sink = [&](const wenet::u2_event& e) {
    all.push_back({e.kind,
                   e.endpoint,
                   {e.ids.begin(), e.ids.end()},
                   {e.times.begin(), e.times.end()},
                   e.stable,
                   e.offset_ms,
                   e.decoded_ms,
                   e.score});
  };
  wenet::u2_stream<wenet::u2_conformer_any> s(m, o);
  test::play(s, pcm, portions, c, sink);
  return all;
}

// Scores within 1e-3: the original adds in float, 1000 frames long.
TEST(u2_stream, endpoints_results_and_times_equal_the_original_runtime) {
  std::ifstream in(folder / "endpoint.json");
  const json golden = json::parse(in);
  for (const json& run : golden["runs"]) {
    SCOPED_TRACE(run["chunk_size"].dump() + " " + run["rule1_ms"].dump() + " " + run["rule2_ms"].dump());
    const table_model m = golden_table();
    const extent chunk = run["chunk_size"];
    wenet::u2_stream_options o{.chunk_size = chunk, .rescore = false};
    o.endpoint.rules[0].trailing_silence_ms = run["rule1_ms"];
    o.endpoint.rules[1].trailing_silence_ms = run["rule2_ms"];
    o.endpoint.rules[2].utterance_ms = run["rule3_ms"];
    std::vector<json> finals;
    std::map<int, json> partials;
    for (const json& e : run["events"]) {
      if (e["kind"] == "partial")
        partials[e["call"].get<int>()] = e["best"];
      else
        finals.push_back(e);
    }
    std::size_t n = 0;
    int call = 0;
    extent frames = 0, last_endpoint = 0;
    bool started = false;
    // The number of the call that read this many frames.
    const auto call_at = [&](extent decoded_ms) {
      while (frames < decoded_ms) {
        const extent more = started ? chunk * 4 : (chunk - 1) * 4 + 7;
        if (chunk <= 0 || frames + more > decoded_ms) break;
        frames += more;
        started = true;
        ++call;
      }
      return call - 1;
    };
    const auto sink = [&](const wenet::u2_event& e) {
      const int number = chunk > 0 ? call_at(e.decoded_ms / 10) : 0;
      if (e.kind == wenet::u2_event_kind::partial) {
        const auto want = partials.find(number);
        if (want != partials.end()) {
          EXPECT_NEAR(e.score, want->second["score"].get<double>(), 1e-3) << "call " << number;
          partials.erase(want);
        }
        return;
      }
      ASSERT_LT(n, finals.size());
      const json& want = finals[n++];
      EXPECT_EQ(e.endpoint, want["state"] == 1);
      EXPECT_TRUE(!e.endpoint || number == want["call"].get<int>()) << number;
      EXPECT_NEAR(e.score, want["best"]["score"].get<double>(), 1e-3);
      const auto placed = search::piece_times(e.times, 40, e.offset_ms);
      const json& pieces = want["best"]["word_pieces"];
      ASSERT_EQ(placed.size(), pieces.size());
      EXPECT_EQ(e.offset_ms, last_endpoint);
      std::size_t moved = 0;
      for (std::size_t i = 0; i < placed.size(); ++i) {
        EXPECT_EQ(e.ids[i], pieces[i][0].get<int>());
        moved += placed[i].start_ms != pieces[i][1].get<extent>() || placed[i].end_ms != pieces[i][2].get<extent>();
      }
      EXPECT_EQ(moved, 0u);
      last_endpoint = e.decoded_ms;
      started = false;
      frames = e.decoded_ms / 10;
    };
    context c;
    wenet::u2_stream<table_model> stream(m, o);
    const std::vector<float> pcm(golden["fbank_frames"].get<std::size_t>());
    test::play(stream, pcm, 100, c, sink);
    EXPECT_EQ(n, finals.size());
    for (const auto& [number, best] : partials)  // nothing decoded yet: the stream says nothing
      EXPECT_EQ(best["sentence"], "") << "call " << number;
  }
}

TEST(u2_stream, stops_at_an_endpoint_unless_it_shall_continue) {
  const table_model m = golden_table();
  context c;
  int finals = 0;
  const auto sink = [&](const wenet::u2_event& e) { finals += e.kind == wenet::u2_event_kind::final; };
  wenet::u2_stream<table_model> stream(m, {.rescore = false, .continuous = false});
  stream.push(std::vector<float>(4000), c, sink);
  EXPECT_TRUE(stream.over());
  stream.push(std::vector<float>(100), c, sink);
  stream.finish(c, sink);
  EXPECT_EQ(finals, 1);
  m.next = 0;
  stream.reset();
  EXPECT_FALSE(stream.over());
  stream.push(std::vector<float>(4000), c, sink);
  EXPECT_EQ(finals, 2);
}

TEST(u2_stream, any_split_of_the_samples_gives_the_same_events) {
  const auto m = small_model();
  const auto pcm = noise(16000 * 12, 3);
  for (const extent chunk : {4, 16, -1}) {
    wenet::u2_stream_options o{.chunk_size = chunk, .left_chunks = chunk == 4 ? 3 : -1};
    o.endpoint.rules[2].utterance_ms = 4000;
    const auto whole = listen(m, o, pcm, {pcm.size()});
    EXPECT_GT(whole.size(), chunk > 0 ? 5u : 0u);
    EXPECT_EQ(whole.back().kind, wenet::u2_event_kind::final);
    test::random_numbers random(static_cast<std::uint64_t>(chunk + 10));
    std::vector<std::size_t> portions;
    for (int i = 0; i < 50; ++i) portions.push_back(static_cast<std::size_t>(random.integer(1, 4000)));
    for (const auto& split : {std::vector<std::size_t>{1}, {160}, {15999, 16001}, portions}) {
      if (split[0] == 1 && chunk != 16) continue;  // sample by sample is slow
      EXPECT_EQ(listen(m, o, std::span(pcm), split), whole) << chunk << " " << split[0];
    }
  }
}

TEST(u2_stream, what_was_stable_never_changes) {
  const auto m = small_model();
  const auto pcm = noise(16000 * 10, 8);
  std::vector<int> stable;
  std::size_t longest = 0;
  for (const event& e : listen(m, {.chunk_size = 4, .left_chunks = 4, .endpoints = false}, pcm, {800})) {
    ASSERT_GE(e.ids.size(), stable.size());
    EXPECT_TRUE(std::equal(stable.begin(), stable.end(), e.ids.begin()));
    stable.assign(e.ids.begin(), e.ids.begin() + e.stable);
    if (e.kind == wenet::u2_event_kind::partial) longest = std::max(longest, stable.size());
  }
  EXPECT_GT(longest, 3u);
}

TEST(u2_stream, chunks_allocate_nothing_once_warm) {
  const auto m = small_model();
  const auto pcm = noise(16000 * 8, 5);
  context c;
  wenet::u2_stream<wenet::u2_conformer_any> s(m, {.chunk_size = 8, .left_chunks = 4, .endpoints = false});
  std::size_t events = 0;
  const auto sink = [&](const wenet::u2_event&) { ++events; };
  // One utterance makes all buffers as large as they get; the next finds them so.
  s.push(pcm, c, sink);
  s.reset();
  s.push(std::span(pcm).first(16000), c, sink);
  const test::allocation_counter counted;
  for (std::size_t at = 16000; at < pcm.size(); at += 1600) s.push(std::span(pcm).subspan(at, 1600), c, sink);
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_GT(events, 20u);
}

TEST(u2_stream, the_limit_of_the_original_is_an_option) {
  const auto m = small_model();
  const auto pcm = noise(16000 * 10, 6);
  extent finals = 0, longest = 0;
  for (const event& e : listen(m, {.chunk_size = 4, .endpoints = false, .max_utterance_frames = 32}, pcm, {1600})) {
    finals += e.kind == wenet::u2_event_kind::final;
    if (!e.times.empty()) longest = std::max(longest, e.times.back());
  }
  EXPECT_GE(finals, 3);
  EXPECT_LT(longest, 32);
}

TEST(u2_stream, no_samples_and_few_samples_end_with_one_empty_result) {
  const auto m = small_model();
  for (const std::size_t n : {std::size_t{0}, std::size_t{399}, std::size_t{2000}}) {
    const auto all = listen(m, {}, std::vector<float>(n), {100});
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].kind, wenet::u2_event_kind::final);
    EXPECT_TRUE(all[0].ids.empty());
  }
}

}  // namespace u2_stream_test
