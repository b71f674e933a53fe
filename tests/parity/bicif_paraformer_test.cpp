// BiCifParaformer against the original implementation: every stage, ids, text and times of the golden case.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/bicif_paraformer.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>

#include "support/paraformer_case.hpp"
#include "support/threads.hpp"

namespace bicif_paraformer_test {

using namespace steno;
using model_type = funasr::bicif_paraformer_any;

TEST(parity_bicif_paraformer, every_stage_ids_text_and_times_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/bicif";
  const auto want = test::read_json(folder / "expected.json");
  const auto model = test::converted<model_type>(folder / "checkpoint");
  const auto r = test::run_stages(model, folder, test::load_wav(folder / "input.wav").pcm);
  test::expect_stages(r, folder);
  EXPECT_EQ(r.recognised.token_ids, want["token_ids_after_filter"].get<std::vector<int>>());
  EXPECT_EQ(r.recognised.text, want["text"].get<std::string>());
  test::expect_times(r.recognised, want["timestamp"]);
}

TEST(parity_bicif_paraformer, same_bits_for_any_number_of_threads) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/bicif";
  const auto model = test::converted<model_type>(folder / "checkpoint", dtype::q8_0);
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  const auto values = [&](const executor& e) {
    std::vector<float> all;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path == "log_probs" || path == "predictor.us_peaks") all.insert(all.end(), x.data(), x.data() + x.size());
    };
    context c(e, core::tracer(sink));
    (void)model.recognise(pcm, {}, c);
    return all;
  };
  const std::vector<float> one = values({});
  ASSERT_FALSE(one.empty());
  for (const int width : {2, 4}) {
    thread_pool pool(steno::test::threads(width));
    EXPECT_EQ(values(executor(pool)), one) << width;
  }
}

TEST(parity_bicif_paraformer, clips_without_a_token) {
  STENO_REQUIRE_SHARED(shared);
  const auto model = test::converted<model_type>(shared / "golden/funasr/bicif/checkpoint");
  context c;
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{400}, std::size_t{960}}) {
    const segment s = model.recognise(std::vector<float>(n), {}, c);
    EXPECT_LE(s.token_ids.size(), 2u) << n;
    EXPECT_EQ(s.words.empty(), s.text.empty());
  }
}

}  // namespace bicif_paraformer_test
