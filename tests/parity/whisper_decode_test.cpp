// Every variant of the original's decode() on the golden windows: ids, text, probabilities.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_decode.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"
#include "support/whisper_case.hpp"

#include <gtest/gtest.h>

namespace whisper_decode_test {

using namespace steno;
using nlohmann::json;

class parity_whisper_decode : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(cases, parity_whisper_decode, testing::Values("multi", "en", "v3"));

void expect_decoded(const whisper::whisper_any& model, const whisper::whisper_decoded& d, const json& want) {
  EXPECT_EQ(d.tokens, want["tokens"].get<std::vector<int>>());
  EXPECT_EQ(d.text, want["text"].get<std::string>());
  EXPECT_EQ(model.tokenizer.code(d.language), want["language"].get<std::string>());
  // Scores move with the order of float sums: a few 1e-6 of logits around 40, over a few dozen steps.
  EXPECT_NEAR(d.avg_logprob, want["avg_logprob"].get<double>(), 2e-4);
  EXPECT_NEAR(d.no_speech_prob, want["no_speech_prob"].get<double>(), 1e-4);
  EXPECT_NEAR(d.compression_ratio, want["compression_ratio"].get<double>(), 1e-12);
}

TEST_P(parity_whisper_decode, every_variant) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_whisper(shared, GetParam());
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  whisper::whisper_window w;
  for (const char* section : {"decode_30s", "decode_short11"}) {
    const std::size_t count = std::string(section) == "decode_30s" ? 480000 : 176000;
    std::vector<float> clip(480000);
    std::copy_n(pcm.begin(), count, clip.begin());
    matrix<float, dynamic, dynamic> x(model.window_frames(), model.frontend.width());
    model.frontend(clip, x, c);
    model.encode(x, w, c);
    for (const auto& [name, v] : want[section].items()) {
      SCOPED_TRACE(std::string(section) + " " + name);
      expect_decoded(model, whisper::whisper_decode(model, w, test::decode_options(model, v["options"]), c), v);
    }
    if (!want.contains("detect_language") || want["detect_language"].is_null()) continue;
    if (!model.tokenizer.multilingual || count != 480000) continue;
    std::vector<float> probs;
    const int found = whisper::whisper_detect_language(model, w, probs, c);
    EXPECT_EQ(model.tokenizer.language_token(found), want["detect_language"]["token"].get<int>());
    for (const auto& [code, p] : want["detect_language"]["probs"].items())
      EXPECT_NEAR(probs[static_cast<std::size_t>(model.tokenizer.find_language(code))], p.get<float>(), 2e-5) << code;
  }
}

}  // namespace whisper_decode_test
