// U2 on the compact golden set: stages, chunks with caches, searches; threads, splits, allocations.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/u2.hpp>

#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"
#include "trace/stages/u2.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <set>

namespace u2_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using table = matrix<float, dynamic, dynamic>;
const fs::path folder = test::compact() / "wenet";

wenet::u2_conformer_any small() { return load<wenet::u2_conformer_any>((folder / "model.gguf").string()); }

table golden(const char* name) {
  const npy::array a = npy::load(folder / name);
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}
table features(const wenet::u2_conformer_any& m) {
  table x = golden("fbank.npy");
  context c;
  m.frontend.last(core::read(x), x, c);
  return x;
}
json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

// 1e-4 of max(1, absmax) is the contract's bound for f32: sums run in another order than torch's.
TEST(u2, stages_equal_the_original) {
  const auto model = small();
  std::set<std::string> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::u2(path);
    if (!fs::exists(folder / (name + ".npy"))) return;
    seen.insert(name);
    test::expect_close(x, folder / (name + ".npy"), 1e-4);
  };
  context c(executor{}, core::tracer(sink));
  const table x = features(model);
  table rows(model.encoder.rows(x.rows()), model.encoder.output_size()), scores(rows.rows(), model.tokenizer.size());
  {
    auto s = c.enter("encoder");
    model.encoder(core::read(x), rows, nullptr, nn::u2_env{}, c);
  }
  model.score(rows, 0, scores, c);
  EXPECT_EQ(seen.size(), 8u);
}

// A model of the set's sizes, by name: they fit the file, and the products are those of a model that adopts them.
TEST(u2, sizes_by_name_give_the_same_bits) {
  using own = wenet::u2_conformer<wenet::u2_sizes{
      .encoder = {.features = 80,
                  .subsampling = 8,
                  .width = 40,
                  .heads = 4,
                  .units = 72,
                  .taps = 15,
                  .layers = 3,
                  .relative = 1,
                  .causal = 1,
                  .normed = 0},
      .decoder = {.width = 40, .heads = 4, .units = 88, .layers = 2, .vocabulary = 67}}>;
  const auto named = load<own>((folder / "model.gguf").string());
  const auto adopted = small();
  const std::vector<float> pcm = test::random_numbers(5).vector(32000, -0.1f, 0.1f);
  context c;
  const segment a = named.recognise(pcm, {}, c), b = adopted.recognise(pcm, {}, c);
  EXPECT_FALSE(b.token_ids.empty());
  EXPECT_EQ(a.token_ids, b.token_ids);
  EXPECT_EQ(a.score, b.score);
}

TEST(u2, chunks_with_caches_equal_the_original) {
  const auto model = small();
  const table x = features(model);
  const json want = expected();
  context c;
  const extent rate = model.encoder.get<"embed">().rate.get(),
               window = model.encoder.get<"embed">().right_context() + 1;
  for (const json& w : want["streaming"]) {
    const extent chunk = w["chunk_size"], left = w["num_left_chunks"];
    SCOPED_TRACE(std::to_string(chunk) + " " + std::to_string(left));
    using encoder = wenet::u2_conformer_any::encoder_type;
    using block_type = nn::wenet_conformer_block<dynamic, dynamic, dynamic, dynamic>;
    auto state = model.encoder.start();
    search::ctc_prefix_beam search;
    std::vector<float> all;
    std::size_t n = 0;
    for (extent at = 0; at + window <= x.rows(); at += chunk * rate, ++n) {
      const extent frames = std::min((chunk - 1) * rate + window, x.rows() - at);
      table y(model.encoder.rows(frames), model.encoder.output_size()), p(y.rows(), model.tokenizer.size());
      model.encoder(core::read(x.middleRows(at, frames)), y, &state, nn::u2_env{.keep = left < 0 ? -1 : left * chunk},
                    c);
      EXPECT_EQ(y.rows(), w["chunk_frames_out"][n].get<extent>());
      const auto& block = encoder::get<"encoders">(state)[0];
      EXPECT_EQ((block_type::get<"self_attn">(block).cache.rows()), w["att_cache_len"][n].get<extent>());
      model.score(y, 0, p, c);
      search.advance(core::read(p));
      all.insert(all.end(), y.data(), y.data() + y.size());
      if (w["partials"].empty()) continue;  // kept for some sizes only
      EXPECT_EQ(search.hypothesis(0).ids, w["partials"].at(n)["ids"].get<std::vector<int>>());
      EXPECT_EQ(search.hypothesis(0).times, w["partials"].at(n)["times"].get<std::vector<extent>>());
      EXPECT_NEAR(search.score(0), w["partials"].at(n)["score"].get<double>(), 1e-2);  // the notes' bound for scores
    }
    const std::string name = "stream_c" + std::to_string(chunk) + "_l" + std::to_string(left) + "_encoder_out.npy";
    const extent d = model.encoder.output_size(), rows = static_cast<extent>(all.size()) / d;
    const auto streamed = core::make_view(static_cast<const float*>(all.data()), rows, d);
    if (fs::exists(folder / name)) test::expect_close(streamed, folder / name, 1e-4);
    // Chunk masks over the whole clip give the same, as far as products cut otherwise do: 5e-6, outputs are near 1.
    table masked(model.encoder.rows(x.rows()), d);
    model.encoder(core::read(x), masked, nullptr, nn::u2_env{.window = {.chunk = chunk, .left = left}}, c);
    EXPECT_LE((masked.topRows(rows) - streamed).cwiseAbs().maxCoeff(), 5e-6f);
  }
}

TEST(u2, searches_equal_the_original) {
  const auto model = small();
  const table rows = golden("encoder_out.npy"), scores = golden("ctc_logprobs.npy");
  const json want = expected();
  context c;
  segment s;
  model.decode(core::read(rows), core::read(scores), {.search = wenet::u2_search::ctc_greedy}, s, c);
  EXPECT_EQ(s.token_ids, want["greedy"].get<std::vector<int>>());
  EXPECT_FALSE(s.words.empty());
  s = {};
  model.decode(core::read(rows), core::read(scores), {.search = wenet::u2_search::ctc_prefix_beam}, s, c);
  EXPECT_EQ(s.token_ids, want["prefix_beam"][0]["ids"].get<std::vector<int>>());
  for (const json& r : want["rescoring"]) {
    s = {};
    model.decode(core::read(rows), core::read(scores), {.ctc_weight = r["ctc_weight"]}, s, c);
    EXPECT_EQ(s.token_ids, r["ids"].get<std::vector<int>>());
    // 1e-2 for scores of the n-best list, times its weight.
    EXPECT_NEAR(s.score.value(), r["score"].get<double>(), 1e-2 * std::max(1.0, r["ctc_weight"].get<double>()));
  }
  for (const json& a : want["attention"]) {
    s = {};
    model.decode(core::read(rows), core::read(scores),
                 {.search = wenet::u2_search::attention, .beam = a["beam"], .length_penalty = a["length_penalty"]}, s,
                 c);
    EXPECT_EQ(s.token_ids, a["ids"].get<std::vector<int>>());
    EXPECT_TRUE(s.words.empty());  // this search has no times, and none are invented
  }
}

TEST(u2, same_bits_for_any_number_of_threads) {
  const auto model = small();
  const std::vector<float> pcm = test::random_numbers(4).vector(64000, -0.1f, 0.1f);
  std::vector<table> results;
  for (const int threads : {1, 2, 3}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    table& y = results.emplace_back(model.frames(64000), model.encoder.output_size());
    model.encode(pcm, y, {}, c);
  }
  const auto bytes = static_cast<std::size_t>(results[0].size()) * sizeof(float);
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), bytes), 0);
  EXPECT_EQ(std::memcmp(results[0].data(), results[2].data(), bytes), 0);
}

TEST(u2, a_second_pass_of_the_same_length_allocates_nothing) {
  const auto model = small();
  const std::vector<float> pcm = test::random_numbers(4).vector(48000, -0.1f, 0.1f);
  context c;
  table y(model.frames(48000), model.encoder.output_size()), p(y.rows(), model.tokenizer.size());
  const auto pass = [&] {
    model.encode(pcm, y, {}, c);
    model.score(y, 0, p, c);
  };
  pass();
  const test::allocation_counter counted;
  pass();
  EXPECT_EQ(counted.so_far(), 0u);
}

TEST(u2, tiny_clips_give_nothing) {
  const auto model = small();
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{399}, std::size_t{2500}})
    EXPECT_TRUE(model.recognise(std::vector<float>(n), {}, c).token_ids.empty());
  EXPECT_NO_THROW((void)model.recognise(std::vector<float>(2640), {}, c));  // 15 frames: one row
}

}  // namespace u2_test
