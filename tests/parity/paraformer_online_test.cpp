// Paraformer-online against the original implementation: every stage, ids and texts of every piece of the golden case,
// from the checkpoint through the converter; threads, and how the weights' formats move the scores.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/streaming/paraformer_stream.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/json_file.hpp"
#include "support/wav.hpp"
#include "trace/stages/paraformer_online.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace paraformer_online_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::read_json;

using model_type = funasr::paraformer_online_any;

model_type converted(const fs::path& checkpoint, dtype type) {
  const test::temporary_directory scratch;
  const fs::path file = scratch.path() / "model.gguf";
  convert(checkpoint, file, {.type = type});
  return load<model_type>(file.string());  // stays mapped when the name goes away
}

struct run {
  std::map<std::string, test::difference> stages;
  std::vector<std::vector<int>> pieces;  // new ids of each result
  std::vector<int> ids;
};

run run_case(const model_type& model, const fs::path& folder, const executor& e = {}) {
  std::map<std::string, npy::array> golden;
  for (const auto& f : fs::directory_iterator(folder / "stages"))
    golden.emplace(f.path().stem().string().substr(3), npy::load(f.path()));
  run r;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const auto want = golden.find(stages::paraformer_online(path));
    if (want == golden.end()) return;
    ASSERT_EQ(want->second.size(), x.rows() * x.cols()) << path;
    r.stages[want->first] = test::compare(x, want->second);
  };
  context c(e, core::tracer(sink));
  funasr::paraformer_stream<model_type> stream(model);
  const auto collect = [&](const funasr::paraformer_event& event) {
    r.pieces.emplace_back(event.ids.begin() + static_cast<std::ptrdiff_t>(r.ids.size()), event.ids.end());
    r.ids.assign(event.ids.begin(), event.ids.end());
  };
  stream.push(test::load_wav(folder / "input.wav").pcm, c, collect);
  stream.finish(c, collect);
  return r;
}

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST(parity_paraformer_online, every_stage_and_the_tokens_of_every_piece_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/online";
  const json want = read_json(folder / "expected.json");
  const auto model = converted(folder / "checkpoint", dtype::f32);
  const run r = run_case(model, folder);
  for (const auto& e : fs::directory_iterator(folder / "stages")) {
    const std::string name = e.path().stem().string().substr(3);
    ASSERT_TRUE(r.stages.contains(name)) << name;
    EXPECT_LE(r.stages.at(name).relative(), 1e-4) << name;
  }
  EXPECT_EQ(r.ids, want["token_ids"].get<std::vector<int>>());
  ASSERT_EQ(r.pieces.size(), want["pieces"].size());
  for (std::size_t i = 0; i < r.pieces.size(); ++i) {
    const json& piece = want["pieces"][i];
    EXPECT_EQ(r.pieces[i], piece["token_ids"].get<std::vector<int>>()) << i;
    std::vector<tokenizers::timed_token> tokens;
    for (const int id : r.pieces[i]) tokens.push_back({.id = id});
    EXPECT_EQ(model.tokenizer.decode(tokens).text, piece["text"].get<std::string>()) << i;
  }
}

// Twice what was measured on this case, since other kernels round otherwise. The case keeps its distance of 0.029 from
// a firing frame, so the number of tokens stays.
TEST(parity_paraformer_online, f16_and_q8_0_stay_within_their_measured_bounds) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/online";
  const json want = read_json(folder / "expected.json");
  const std::pair<dtype, double> bounds[] = {{dtype::f16, 4.9e-3}, {dtype::q8_0, 5.2e-2}};
  for (const auto& [type, bound] : bounds) {
    const run r = run_case(converted(folder / "checkpoint", type), folder);
    double moved = 0;
    for (const auto& [name, d] : r.stages)
      if (name.ends_with("log_probs")) moved = std::max(moved, d.relative());
    std::printf("%s: log-probabilities move by %.2e of their range\n", std::string(core::info(type).name).c_str(),
                moved);
    EXPECT_LE(moved, bound) << core::info(type).name;
    EXPECT_GT(moved, 0);
    EXPECT_EQ(r.ids, want["token_ids"].get<std::vector<int>>()) << core::info(type).name;
  }
}

}  // namespace paraformer_online_test
