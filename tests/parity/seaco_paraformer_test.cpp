// SeacoParaformer against the original implementation: every stage, ids, text and times of the golden case, without
// hotwords and with lists of them.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/seaco_paraformer.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>

#include "support/paraformer_case.hpp"
#include "support/threads.hpp"

#include <sstream>

namespace seaco_paraformer_test {

using namespace steno;
using model_type = funasr::seaco_paraformer_any;

// Hotwords as the original was given them: words of a text, or lines of a file.
std::vector<std::string> phrases_of(const std::string& hotword, const std::filesystem::path& folder) {
  std::vector<std::string> all;
  if (hotword.ends_with(".txt")) {
    std::ifstream file(folder / hotword);
    for (std::string line; std::getline(file, line);) all.push_back(line);
  } else {
    std::istringstream words(hotword);
    for (std::string w; words >> w;) all.push_back(w);
  }
  return all;
}

TEST(parity_seaco_paraformer, every_stage_ids_text_and_times_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/seaco";
  const auto want = test::read_json(folder / "expected.json");
  const auto model = test::converted<model_type>(folder / "checkpoint");
  const auto r = test::run_stages(model, folder, test::load_wav(folder / "input.wav").pcm);
  test::expect_stages(r, folder);
  EXPECT_EQ(r.recognised.token_ids, want["no_hotwords"]["token_ids_after_filter"].get<std::vector<int>>());
  EXPECT_EQ(r.recognised.text, want["no_hotwords"]["text"].get<std::string>());
  test::expect_times(r.recognised, want["no_hotwords"]["timestamp"]);
}

TEST(parity_seaco_paraformer, every_list_of_hotwords) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/seaco";
  const auto want = test::read_json(folder / "expected.json");
  const auto model = test::converted<model_type>(folder / "checkpoint");
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  for (const auto& [name, run] : want["hotword_runs"].items()) {
    const std::vector<std::string> phrases = phrases_of(run["hotword"], folder);
    EXPECT_EQ(models::split_hotwords(model.phrases, phrases), run["hotword_ids"].get<std::vector<std::vector<int>>>())
        << name;
    const auto r = test::run_stages(model, folder, pcm, {.hotwords = phrases}, name + "_");
    if (name == "hotwords_short" || name == "hotwords_file") test::expect_stages(r, folder, name + "_");
    EXPECT_EQ(r.recognised.token_ids, run["token_ids_after_filter"].get<std::vector<int>>()) << name;
    EXPECT_EQ(r.recognised.text, run["text"].get<std::string>()) << name;
    test::expect_times(r.recognised, run["timestamp"]);
  }
}

TEST(parity_seaco_paraformer, same_bits_for_any_number_of_threads) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/seaco";
  const auto model = test::converted<model_type>(folder / "checkpoint", dtype::q8_0);
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  const std::vector<std::string> phrases = phrases_of("hotwords.txt", folder);
  const auto scores = [&](const executor& e) {
    std::vector<float> all;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path == "log_probs") all.assign(x.data(), x.data() + x.size());
    };
    context c(e, core::tracer(sink));
    (void)model.recognise(pcm, {.hotwords = phrases}, c);
    return all;
  };
  const std::vector<float> one = scores({});
  ASSERT_FALSE(one.empty());
  for (const int width : {2, 4}) {
    thread_pool pool(steno::test::threads(width));
    EXPECT_EQ(scores(executor(pool)), one) << width;
  }
}

TEST(parity_seaco_paraformer, a_hotword_without_a_word_is_refused) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/funasr/seaco";
  const auto model = test::converted<model_type>(folder / "checkpoint");
  context c;
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  EXPECT_THROW((void)model.recognise(pcm, {.hotwords = std::vector<std::string>{"\xe7\x9a\x84", " "}}, c), error);
}

}  // namespace seaco_paraformer_test
