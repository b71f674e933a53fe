// ContextualParaformer against the original implementation: every stage, ids and text of the golden case, without
// hotwords and with lists of them.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/contextual_paraformer.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>

#include "support/paraformer_case.hpp"

#include <sstream>

namespace contextual_paraformer_test {

using namespace steno;
using model_type = funasr::contextual_paraformer_any;

TEST(parity_contextual_paraformer, every_run_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/contextual";
  const auto want = test::read_json(folder / "expected.json");
  const auto model = test::converted<model_type>(folder / "checkpoint");
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  for (const auto& [name, run] : want["runs"].items()) {
    funasr::contextual_paraformer_options o;
    std::istringstream words(run.value("hotword", ""));
    for (std::string w; words >> w;) o.hotwords.push_back(w);
    if (run.contains("clas_scale")) o.clas_scale = run["clas_scale"].get<float>();
    if (run.contains("hotword")) {
      EXPECT_EQ(models::split_hotwords(model.phrases, o.hotwords),
                run["hotword_ids"].get<std::vector<std::vector<int>>>());
    }
    const std::string stages = name == "no_hotwords" ? "" : name + "_";
    const auto r = test::run_stages(model, folder, pcm, o, stages);
    if (name == "no_hotwords" || name == "hotwords_short") test::expect_stages(r, folder, stages);
    EXPECT_EQ(r.recognised.token_ids, run["token_ids_after_filter"].get<std::vector<int>>()) << name;
    EXPECT_EQ(r.recognised.text, run["text"].get<std::string>()) << name;
    for (const word& w : r.recognised.words) EXPECT_EQ(w.how, timing::none);
  }
}

}  // namespace contextual_paraformer_test
