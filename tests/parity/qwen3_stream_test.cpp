// Qwen3-ASR's streaming against the original: every step of every golden setting, and what is kept between steps.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/qwen3_asr.hpp>
#include <steno/streaming/qwen3_stream.hpp>

#include "support/qwen3_case.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

namespace qwen3_stream_test {

using namespace steno;
using nlohmann::json;

class parity_qwen3_stream : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(cases, parity_qwen3_stream, testing::Values("qwen3-asr-0.6b", "qwen3-asr-1.7b"),
                         [](const auto& which) { return which.param == "qwen3-asr-0.6b" ? "small" : "large"; });

template <class Sink>
void stream_all(qwen3::qwen3_stream<qwen3::qwen3_asr_any>& s, std::span<const float> pcm, std::size_t piece, context& c,
                Sink&& sink) {
  for (std::size_t at = 0; at < pcm.size(); at += piece)
    s.push(pcm.subspan(at, std::min(piece, pcm.size() - at)), c, sink);
  s.finish(c, sink);
}

TEST_P(parity_qwen3_stream, every_step) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/qwen3_asr" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3(shared, GetParam());
  context c;
  for (const auto& entry : want["streaming"].items()) {
    const json& setting = entry.value();
    SCOPED_TRACE(entry.key());
    const auto pcm = test::load_wav(folder / setting["wav"].get<std::string>()).pcm;
    qwen3::qwen3_stream_options o;
    if (!setting["force_language"].is_null()) o.language = setting["force_language"].get<std::string>();
    o.prompt = setting["context"].get<std::string>();
    o.unfixed_chunks = setting["unfixed_chunk_num"].get<int>();
    o.unfixed_tokens = setting["unfixed_token_num"].get<int>();
    o.chunk = setting["chunk_size_sec"].get<double>();
    qwen3::qwen3_stream<qwen3::qwen3_asr_any> stream(model, o);
    std::size_t step = 0;
    extent reused = 0;
    stream_all(stream, pcm, setting["piece_samples"].get<std::size_t>(), c, [&](const qwen3::qwen3_stream_event& e) {
      if (e.prompt == nullptr) return;  // the end brought nothing new
      SCOPED_TRACE(step);
      ASSERT_LT(step, setting["steps"].size());
      const json& s = setting["steps"][step++];
      EXPECT_EQ(static_cast<extent>(e.decoded_seconds * 16000 + 0.5), s["samples"].get<extent>());
      EXPECT_EQ(e.prefix, s["prefix"].get<std::string>());
      std::vector<int> ids = e.prompt->before;
      ids.insert(ids.end(), static_cast<std::size_t>(e.audio_rows), model.tokenizer.find("<|audio_pad|>"));
      ids.insert(ids.end(), e.prompt->after.begin(), e.prompt->after.end());
      EXPECT_EQ(ids, s["prompt_ids"].get<std::vector<int>>());
      auto new_ids = s["new_ids"].get<std::vector<int>>();
      new_ids.pop_back();
      EXPECT_EQ(std::vector<int>(e.ids.begin(), e.ids.end()), new_ids);
      EXPECT_EQ(e.raw, s["raw"].get<std::string>());
      EXPECT_EQ(e.language, s["language"].get<std::string>());
      EXPECT_EQ(e.text, s["text"].get<std::string>());
      reused += e.reused_rows;
    });
    EXPECT_EQ(step, setting["steps"].size());
    EXPECT_GT(reused, 100) << "rows of the first 8 s are kept";
  }
}

// Utterances of at most 6 s: what was said to be stable never changes, a step never hears more, all audio is covered.
TEST_P(parity_qwen3_stream, settled_text_stays) {
  STENO_REQUIRE_SHARED(shared);
  const auto model = test::converted_qwen3(shared, GetParam());
  const auto clip = test::load_wav(shared / "golden/qwen3_asr" / GetParam() / "input.wav").pcm;
  std::vector<float> pcm;
  for (int i = 0; i < 3; ++i) pcm.insert(pcm.end(), clip.begin(), clip.end());
  context c;
  qwen3::qwen3_stream<qwen3::qwen3_asr_any> stream(
      model, {.chunk = 1, .max_utterance_seconds = 6, .search_expand = 2, .commit = true});
  std::string stable;
  double end = 0;
  int finals = 0;
  stream_all(stream, pcm, 1600, c, [&](const qwen3::qwen3_stream_event& e) {
    EXPECT_EQ(e.start, end);
    EXPECT_LE(e.decoded_seconds - e.start, 6.0 + 1e-9);
    EXPECT_TRUE(e.text.starts_with(stable)) << e.text << " does not begin with " << stable;
    EXPECT_TRUE(e.stable.starts_with(stable)) << e.stable << " does not begin with " << stable;
    EXPECT_TRUE(e.text.starts_with(e.stable));
    stable = e.stable;
    if (e.kind != streaming::stream_event_kind::final) return;
    EXPECT_EQ(e.stable, e.text);
    stable.clear();
    end = e.decoded_seconds;
    ++finals;
  });
  EXPECT_GE(finals, 7);
  EXPECT_NEAR(end, static_cast<double>(pcm.size()) / 16000, 1e-9);
}

}  // namespace qwen3_stream_test
