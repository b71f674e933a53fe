// SeacoParaformer on the compact golden set: stages, ids and times, with hotwords and without; hotwords that are none;
// sizes that do not fit; settings outside of their ranges.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/bicif_paraformer.hpp>
#include <steno/models/contextual_paraformer.hpp>
#include <steno/models/seaco_paraformer.hpp>

#include "npy.hpp"
#include "support/allocations.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "trace/stages/paraformer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

namespace seaco_paraformer_test {

namespace fs = std::filesystem;
using namespace steno;
using model_type = funasr::seaco_paraformer_any;

const fs::path folder = test::compact() / "seaco_paraformer";

model_type small() { return load<model_type>((folder / "model.gguf").string()); }

matrix<float, dynamic, dynamic> features() {
  const npy::array a = npy::load(folder / "cmvn.npy");
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}

nlohmann::json expected() {
  std::ifstream in(folder / "expected.json");
  return nlohmann::json::parse(in);
}

void expect_run(const std::string& name, std::size_t stages) {
  SCOPED_TRACE(name);
  const auto model = small();
  const auto want = expected();
  funasr::seaco_paraformer_options o;
  const std::string front = name == "no_hotwords" ? "" : name + "_";
  if (!front.empty()) o.hotwords = want[name]["hotwords"].get<std::vector<std::string>>();
  std::set<std::string> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string stage = stages::paraformer(path);
    const fs::path file = folder / (front + stage + ".npy");
    if (stage.empty() || !fs::exists(file)) return;
    seen.insert(stage);
    EXPECT_LE(test::compare(x, npy::load(file)).relative(), 1e-4) << stage;
  };
  context c(executor{}, core::tracer(sink));
  const auto x = features();
  segment s;
  model.decode_features(core::read(x), o, s, c);
  EXPECT_EQ(seen.size(), stages);
  EXPECT_EQ(s.token_ids, want[name]["ids"].get<std::vector<int>>());
  const auto& times = want["times_ms"];
  ASSERT_EQ(s.words.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(std::lround(s.words[i].start * 1000), times[i][0].get<long>()) << i;
    EXPECT_EQ(std::lround(s.words[i].end * 1000), times[i][1].get<long>()) << i;
  }
}

// 1e-4 of max(1, absmax) is the contract's bound for f32: the sums run in another order than torch's.
TEST(seaco_paraformer, stages_ids_and_times_equal_the_original) {
  expect_run("no_hotwords", 10);
  expect_run("hotwords_short", 4);
  expect_run("hotwords_file", 4);  // more than fifty: the best are taken
}

TEST(seaco_paraformer, hotwords_that_are_none) {
  const auto model = small();
  context c;
  const auto x = features();
  const auto ids = [&](const funasr::seaco_paraformer_options& o) {
    segment s;
    model.decode_features(core::read(x), o, s, c);
    return s.token_ids;
  };
  EXPECT_EQ(ids({.hotwords = std::vector<std::string>{}}), ids({}));  // <s> alone: the second decoder knows nothing
  const std::string said = test::refusal([&] { (void)ids({.hotwords = std::vector<std::string>{"w3", " "}}); });
  EXPECT_NE(said.find("hotword \" \": expected one word or more"), std::string::npos) << said;
}

TEST(seaco_paraformer, a_pass_leaves_the_scratch_as_it_was) {
  const auto model = small();
  context c;
  const auto x = features();
  const funasr::seaco_paraformer_options o{.hotwords = expected()["hotwords_file"]["hotwords"]};
  segment first, again;
  model.decode_features(core::read(x), o, first, c);
  const std::size_t held = c.scratch.capacity();
  model.decode_features(core::read(x), o, again, c);
  EXPECT_EQ(c.scratch.capacity(), held);
  EXPECT_EQ(again.token_ids, first.token_ids);
}

TEST(seaco_paraformer, empty_and_tiny_clips_give_nothing) {
  const auto model = small();
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{399}}) {
    const segment s = model.recognise(std::vector<float>(n), {.hotwords = std::vector<std::string>{"w3"}}, c);
    EXPECT_EQ(s.text, "");
    EXPECT_TRUE(s.words.empty());
  }
}

TEST(seaco_paraformer, the_published_sizes_do_not_fit_a_small_file) {
  const std::string said =
      test::refusal([] { (void)load<funasr::seaco_paraformer_large>((folder / "model.gguf").string()); });
  EXPECT_NE(said.find("encoder.encoders0.0"), std::string::npos) << said;
}

TEST(seaco_paraformer, a_token_that_is_none_is_refused) {
  auto model = small();
  const auto no_bias = [&](extent id) {
    model.no_bias = id;
    weights::storage keep;
    return test::refusal([&] { weights::bind(model, *model.storage.file, keep, model_type::architecture); });
  };
  EXPECT_EQ(no_bias(60), "");
  EXPECT_NE(no_bias(61).find("no_bias among the rows of hotword_output_layer: expected 0 to 60, found 61"),
            std::string::npos);
}

}  // namespace seaco_paraformer_test
