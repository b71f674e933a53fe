// Paraformer-online on the compact golden set: encoder rows, alphas, scores and ids of every piece, for several chunk
// sizes and with a last piece too short for a feature; same bits for any number of threads; sizes that make no sense.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/paraformer_online.hpp>

#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace paraformer_online_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

const fs::path folder = test::compact() / "paraformer_online";
using model_type = funasr::paraformer_online_any;

model_type small() { return load<model_type>((folder / "model.gguf").string()); }

json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

nn::chunk_sizes sizes_of(const json& run) {
  return {.before = run["chunk_size"][0],
          .size = run["chunk_size"][1],
          .after = run["chunk_size"][2],
          .encoder_look_back = run["encoder_look_back"],
          .decoder_look_back = run["decoder_look_back"]};
}

struct outcome {
  std::vector<std::vector<int>> ids;
  std::map<std::string, std::vector<float>> stages;  // all pieces', joined
};

outcome run_pieces(const model_type& m, const json& run, const executor& e = {}) {
  const npy::array a = npy::load(folder / "features.npy");
  const std::vector<float> v = a.floats();
  const nn::chunk_sizes sizes = sizes_of(run);
  outcome o;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    auto& all = o.stages[std::string(path)];
    for (extent t = 0; t < x.rows(); ++t)
      all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  };
  context c(e, core::tracer(sink));
  auto state = m.start(sizes);
  const auto piece = [&](extent at, extent n, bool last) {
    o.ids.emplace_back();
    m.decode(state, core::make_view(v.data() + at * a.cols(), n, a.cols()), last, c,
             [&](const model_type::token& t) { o.ids.back().push_back(t.id); });
  };
  const bool tail = run["tail"];
  for (extent at = 0; at < a.rows(); at += sizes.size) {
    const extent n = std::min(sizes.size, a.rows() - at);
    if (tail && n < sizes.size) break;
    piece(at, n, !tail && at + n == a.rows());
  }
  if (tail) piece(0, 0, true);
  return o;
}

// 1e-4 of max(1, absmax) is the contract's bound for f32: the sums run in another order than torch's.
TEST(paraformer_online, pieces_equal_the_original_for_all_chunk_sizes) {
  const auto model = small();
  const json runs = expected();
  ASSERT_EQ(runs.size(), 6u);
  for (const auto& [name, run] : runs.items()) {
    SCOPED_TRACE(name);
    const outcome o = run_pieces(model, run);
    EXPECT_EQ(o.ids, run["ids"].get<std::vector<std::vector<int>>>());
    for (const char* stage : {"encoder_out", "alphas_raw", "log_probs"}) {
      const npy::array want = npy::load(folder / (name + "_" + stage + ".npy"));
      const auto& got = o.stages.at(stage == std::string_view("encoder_out") ? "after_norm" : stage);
      ASSERT_EQ(static_cast<extent>(got.size()), want.size()) << stage;
      EXPECT_LE(test::compare(core::make_view(got.data(), 1, want.size()), want).relative(), 1e-4) << stage;
    }
  }
}

TEST(paraformer_online, the_file_recommends_sizes) {
  const auto model = small();
  const nn::chunk_sizes want = sizes_of(expected()["usual"]);
  EXPECT_EQ(model.default_sizes.before, want.before);
  EXPECT_EQ(model.default_sizes.size, want.size);
  EXPECT_EQ(model.default_sizes.after, want.after);
  EXPECT_EQ(model.default_sizes.encoder_look_back, want.encoder_look_back);
  EXPECT_EQ(model.default_sizes.decoder_look_back, want.decoder_look_back);
}

TEST(paraformer_online, same_bits_for_any_number_of_threads) {
  const auto model = small();
  const json run = expected()["tail"];
  const outcome one = run_pieces(model, run);
  thread_pool pool(3);
  const outcome three = run_pieces(model, run, executor(pool));
  EXPECT_EQ(one.stages.at("log_probs"), three.stages.at("log_probs"));
}

TEST(paraformer_online, a_copied_state_goes_on_alone) {
  const auto model = small();
  const npy::array a = npy::load(folder / "features.npy");
  const std::vector<float> v = a.floats();
  context c;
  std::vector<int> ids, again;
  auto s = model.start(model.default_sizes);
  const auto decode = [&](model_type::state& state, std::vector<int>& to) {
    for (extent at = 0; at < 30; at += 10)
      model.decode(state, core::make_view(v.data() + at * a.cols(), 10, a.cols()), at == 20, c,
                   [&](const model_type::token& t) { to.push_back(t.id); });
  };
  auto copy = s;
  decode(s, ids);
  decode(copy, again);
  EXPECT_FALSE(ids.empty());
  EXPECT_EQ(ids, again);
}

TEST(paraformer_online, sizes_that_make_no_sense_are_refused) {
  const auto model = small();
  for (const nn::chunk_sizes& s :
       {nn::chunk_sizes{.before = -1}, nn::chunk_sizes{.size = 0}, nn::chunk_sizes{.after = 0},
        nn::chunk_sizes{.encoder_look_back = -2}, nn::chunk_sizes{.size = 100000}})
    EXPECT_THROW((void)model.start(s), error);
}

}  // namespace paraformer_online_test
