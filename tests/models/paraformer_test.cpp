// Paraformer on the compact golden set: stages, ids and times; same bits for any number of threads; sizes that do not
// fit.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/paraformer.hpp>

#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/paraformer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

namespace paraformer_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path folder = test::compact() / "paraformer";

funasr::paraformer_any small() { return load<funasr::paraformer_any>((folder / "model.gguf").string()); }

matrix<float, dynamic, dynamic> features() {
  const npy::array a = npy::load(folder / "cmvn.npy");
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}

// 1e-4 of max(1, absmax) is the contract's bound for f32: the sums run in another order than torch's.
TEST(paraformer, stages_ids_and_times_equal_the_original) {
  const auto model = small();
  std::set<std::string> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::paraformer(path);
    if (!fs::exists(folder / (name + ".npy"))) return;
    seen.insert(name);
    const test::difference d = test::compare(x, npy::load(folder / (name + ".npy")));
    EXPECT_LE(d.relative(), 1e-4) << name;
  };
  context c(executor{}, core::tracer(sink));
  const auto x = features();
  segment s;
  model.decode_features(core::read(x), s, c);
  EXPECT_EQ(seen.size(), 6u);

  std::ifstream in(folder / "expected.json");
  const nlohmann::json want = nlohmann::json::parse(in);
  EXPECT_EQ(s.token_ids, want["ids"].get<std::vector<int>>());
  // Words join tokens; where one word ends the next begins, so every time must be one of the tokens'.
  std::set<long> starts, ends;
  for (const auto& t : want["times_ms"]) {
    starts.insert(t[0].get<long>());
    ends.insert(t[1].get<long>());
  }
  ASSERT_FALSE(s.words.empty());
  for (const word& w : s.words) {
    EXPECT_TRUE(starts.contains(std::lround(w.start * 1000))) << w.text;
    EXPECT_TRUE(ends.contains(std::lround(w.end * 1000))) << w.text;
  }
}

TEST(paraformer, same_bits_for_any_number_of_threads) {
  const auto model = small();
  const auto x = features();
  const auto scores = [&](int threads) {
    std::vector<float> all;
    const auto sink = [&](std::string_view path, const view<const float>& y) {
      if (path == "log_probs") all.assign(y.data(), y.data() + y.size());
    };
    thread_pool pool(threads);
    context c{executor(pool), core::tracer(sink)};
    segment s;
    model.decode_features(core::read(x), s, c);
    return all;
  };
  const std::vector<float> one = scores(1);
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(scores(2), one);
  EXPECT_EQ(scores(4), one);
}

TEST(paraformer, empty_and_tiny_clips_give_nothing) {
  const auto model = small();
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{399}}) {
    const segment s = model.recognise(std::vector<float>(n), {}, c);
    EXPECT_EQ(s.text, "");
    EXPECT_TRUE(s.words.empty());
  }
}

TEST(paraformer, the_published_sizes_do_not_fit_a_small_file) {
  try {
    (void)load<funasr::paraformer_large>((folder / "model.gguf").string());
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("encoder.encoders0.0"), std::string::npos) << e.what();
  }
}

// Weights split at a firing frame, and the state that goes on.
TEST(cif_integrate, fires_where_the_sum_passes_a_whole_number) {
  matrix<float, dynamic, dynamic> x(4, 1), tokens(4, 1);
  x << 1, 10, 100, 1000;
  const float alphas[] = {0.5f, 0.75f, 0.5f, 0.5f};
  float fires[4];
  nn::cif_state s;
  const extent first = nn::cif_integrate(core::read(x), alphas, s, core::write(tokens), fires);
  ASSERT_EQ(first, 2);
  EXPECT_FLOAT_EQ(tokens(0, 0), 0.5f * 1 + 0.5f * 10);
  EXPECT_FLOAT_EQ(tokens(1, 0), 0.25f * 10 + 0.5f * 100 + 0.25f * 1000);
  EXPECT_FLOAT_EQ(fires[1], 1.25f);
  EXPECT_FLOAT_EQ(fires[2], 0.75f);
  EXPECT_FLOAT_EQ(s.held[0], 0.25f * 1000);

  matrix<float, dynamic, dynamic> parts(4, 1);
  nn::cif_state t;
  extent n = 0;
  for (extent i = 0; i < 4; ++i)
    n += nn::cif_integrate(core::read(x.middleRows(i, 1)), alphas + i, t, core::write(parts.bottomRows(4 - n)),
                           fires + i);
  EXPECT_EQ(n, first);
  EXPECT_EQ(parts.topRows(2), tokens.topRows(2));
}

// CifPredictorV3's: a sum in float that starts again, and as many rows as the sum of all weights has whole parts.
TEST(cif_fire, fires_where_the_sum_reaches_one) {
  matrix<float, dynamic, dynamic> x(4, 1), tokens(4, 1);
  x << 1, 10, 100, 1000;
  const float alphas[] = {0.5f, 0.75f, 0.5f, 0.5f};
  float fires[4];
  tokens.setConstant(-1);
  EXPECT_EQ(nn::cif_fire(core::read(x), alphas, core::write(tokens), fires), 2);
  EXPECT_EQ(std::vector<float>(fires, fires + 4), (std::vector<float>{0.5f, 1.25f, 0.75f, 1.25f}));
  EXPECT_EQ(tokens(0, 0), 0.5f + 5);
  EXPECT_EQ(tokens(1, 0), 2.5f + 50 + 250);
  EXPECT_EQ(tokens(2, 0), -1);
}

}  // namespace paraformer_test
