// Qwen3-ASR against the original implementation: every stage of every golden case, from the checkpoints through the
// converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>

#include "support/compare.hpp"
#include "support/qwen3_case.hpp"
#include "support/threads.hpp"
#include "support/wav.hpp"
#include "trace/stages/qwen3.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace qwen3_asr_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using rows = matrix<float, dynamic, dynamic>;

class parity_qwen3_asr : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(cases, parity_qwen3_asr, testing::Values("qwen3-asr-0.6b", "qwen3-asr-1.7b"),
                         [](const auto& which) { return which.param == "qwen3-asr-0.6b" ? "small" : "large"; });

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
TEST_P(parity_qwen3_asr, every_stage_in_f32) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/qwen3_asr" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3(shared, GetParam());
  const auto pcm = test::load_wav(folder / "input.wav").pcm;

  std::map<std::string, npy::array> golden;
  for (const auto& e : fs::directory_iterator(folder / "stages"))
    if (const std::string name = e.path().stem().string(); !name.starts_with("alt_"))
      golden.emplace(name.substr(3), npy::load(e.path()));
  const std::size_t last = model.audio_tower.behind.get<"layers">().layers.size() - 1;
  std::map<std::string, double> seen;
  const auto note = [&](std::string name, const view<const float>& x) {
    if (name == "encoder_layer" + std::to_string(last)) name = "encoder_last_layer";
    const auto at = golden.find(name);
    if (at == golden.end()) return;
    ASSERT_EQ(x.size(), at->second.size()) << name;
    ASSERT_FALSE(seen.contains(name)) << name << " is told twice";
    seen[name] = test::compare(x, at->second).relative();
  };
  const auto sink = [&](std::string_view path, const view<const float>& x) { note(stages::qwen3(path), x); };
  context c(executor{}, core::tracer(sink));

  const json& run = want["runs"]["main"];
  const auto prompt = run["prompt_ids"].get<std::vector<int>>(), new_ids = run["new_ids"].get<std::vector<int>>();
  const extent n = static_cast<extent>(prompt.size());
  const int pad = want["special_ids"]["<|audio_pad|>"].get<int>();
  const extent audio = model.audio_rows(static_cast<extent>(pcm.size()));
  ASSERT_EQ(audio, want["audio_tokens"].get<extent>());
  ASSERT_EQ(std::count(prompt.begin(), prompt.end(), pad), audio);

  rows encoded(audio, model.text.width()), x(n, model.text.width());
  model.encode(pcm, encoded, c);
  model.text.embed(prompt, x);
  x.middleRows(std::find(prompt.begin(), prompt.end(), pad) - prompt.begin(), audio) = encoded;
  note("decoder_in", x);
  nn::qwen3_decoder_state state;
  rows prefill, scores(n, model.text.outputs()), path(static_cast<extent>(new_ids.size()), model.text.outputs());
  {
    auto scope = c.enter("text");
    model.text(x, state, c);
    model.text.logits(x, scores, c);
  }
  note("logits_last_prefill", core::read(scores.bottomRows(1)));
  c.trace_to({});
  path.row(0) = scores.bottomRows(1);
  for (std::size_t i = 0; i + 1 < new_ids.size(); ++i) {
    rows next(1, model.text.width());
    model.text.embed(std::span(new_ids).subspan(i, 1), next);
    model.text(next, state, c);
    model.text.logits(next, path.row(static_cast<extent>(i) + 1), c);
  }
  note("logits_greedy_path", path);
  for (extent i = 0; i < path.rows(); ++i) {
    extent best = 0;
    path.row(i).maxCoeff(&best);
    EXPECT_EQ(best, new_ids[static_cast<std::size_t>(i)]) << i;
  }

  for (const auto& [name, array] : golden) {
    ASSERT_TRUE(seen.contains(name)) << name;
    EXPECT_LE(seen.at(name), 1e-4) << name;
  }
  EXPECT_FALSE(golden.empty());

  // Rewound and continued otherwise in pieces, the last row is the same: other kernels, so not the same bits.
  const extent keep = n / 3;
  state.rewind(keep);
  ASSERT_EQ(state.length(), keep);
  model.text.embed(prompt, x);
  x.middleRows(std::find(prompt.begin(), prompt.end(), pad) - prompt.begin(), audio) = encoded;
  for (extent t = keep; t < n;) {
    const extent some = std::min<extent>(t == keep ? 1 : 40, n - t);
    model.text(x.middleRows(t, some), state, c);
    t += some;
  }
  rows again(1, model.text.outputs());
  model.text.logits(x.bottomRows(1), again, c);
  EXPECT_LE((again - path.row(0)).cwiseAbs().maxCoeff(), 1e-4f * std::max(1.0f, again.cwiseAbs().maxCoeff()));

  // Without anybody looking, blocks are computed two at a time and features with them.
  rows pieces(audio, model.text.width());
  model.encode(pcm, pieces, c);
  EXPECT_LE((pieces - encoded).cwiseAbs().maxCoeff(), 1e-4f * std::max(1.0f, encoded.cwiseAbs().maxCoeff()));
}

// Prompts, ids and texts of every run, the tokenizer's vectors, a recording cut at quiet places.
TEST_P(parity_qwen3_asr, every_run) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/qwen3_asr" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3(shared, GetParam());
  context c;
  for (const json& v : want["encode_vectors"])
    EXPECT_EQ(model.tokenizer.encode(v["text"].get<std::string>()), v["ids"].get<std::vector<int>>()) << v["text"];
  for (const auto& [name, id] : want["special_ids"].items()) EXPECT_EQ(model.tokenizer.find(name), id.get<int>());
  EXPECT_EQ(model.ends, want["eos_ids"].get<std::vector<int>>());

  const auto same_ids = [&](std::vector<int> ids, const json& golden) {
    auto all = golden.get<std::vector<int>>();
    ASSERT_FALSE(all.empty());
    EXPECT_NE(std::find(model.ends.begin(), model.ends.end(), all.back()), model.ends.end());
    all.pop_back();
    EXPECT_EQ(ids, all);
  };
  nn::qwen3_decoder_state state;
  std::size_t runs = 0;
  for (const auto& [name, run] : want["runs"].items()) {
    SCOPED_TRACE(name);
    ++runs;
    const auto pcm = test::load_wav(folder / run["wav"].get<std::string>()).pcm;
    const std::string language =
        run["force_language"].is_null() ? "" : model.language_name(run["force_language"].get<std::string>());
    const qwen3::qwen3_prompt p = model.prompt(run["context"].get<std::string>(), language);
    std::vector<int> ids = p.before;
    ids.insert(ids.end(), static_cast<std::size_t>(model.audio_rows(static_cast<extent>(pcm.size()))),
               model.tokenizer.find("<|audio_pad|>"));
    ids.insert(ids.end(), p.after.begin(), p.after.end());
    EXPECT_EQ(ids, run["prompt_ids"].get<std::vector<int>>());
    const qwen3::qwen3_part part = model.write(pcm, p, language, {}, state, c);
    same_ids(part.ids, run["new_ids"]);
    EXPECT_EQ(part.raw, run["raw"].get<std::string>());
    EXPECT_EQ(part.output.language, run["language"].get<std::string>());
    EXPECT_EQ(part.output.text, run["text"].get<std::string>());
    EXPECT_EQ(part.stop, nn::qwen3_stop::end_of_text);
    const std::size_t some = part.ids.size() / 2;
    if (some == 0) continue;
    const qwen3::qwen3_part cut = model.write(pcm, p, language, {.max_new_tokens = static_cast<int>(some)}, state, c);
    EXPECT_EQ(cut.ids, std::vector<int>(part.ids.begin(), part.ids.begin() + static_cast<std::ptrdiff_t>(some)));
    EXPECT_EQ(cut.stop, nn::qwen3_stop::max_tokens);
  }
  EXPECT_GT(runs, 0u);

  const json& far = want["long_audio"];
  const auto pcm = test::load_wav(folder / far["wav"].get<std::string>()).pcm;
  const qwen3::qwen3_transcription all = model.transcribe(
      pcm, {.max_seconds = far["max_chunk_sec"].get<double>(), .search_expand = far["search_expand_sec"].get<double>()},
      c);
  ASSERT_EQ(all.parts.size(), far["chunks"].size());
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    EXPECT_EQ(all.parts[i].start, far["chunks"][i]["start"].get<extent>());
    EXPECT_EQ(all.parts[i].count, far["chunks"][i]["samples"].get<extent>());
    same_ids(all.parts[i].ids, far["chunks"][i]["new_ids"]);
  }
  EXPECT_EQ(all.language, far["language"].get<std::string>());
  EXPECT_EQ(all.text, far["text"].get<std::string>());
}

// Keys and values as halves or bytes beside exact weights. The scores of the path that was written move by this much of
// their largest value, measured on both models; three times that is allowed. Texts stay the same: the smallest margin
// of the cases is 7.3, their largest score 24 and 31.
TEST_P(parity_qwen3_asr, keys_and_values_in_few_bits) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/qwen3_asr" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3(shared, GetParam());
  context c;
  const json& run = want["runs"]["main"];
  const auto prompt = run["prompt_ids"].get<std::vector<int>>(), new_ids = run["new_ids"].get<std::vector<int>>();
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  rows encoded(model.audio_rows(static_cast<extent>(pcm.size())), model.text.width());
  model.encode(pcm, encoded, c);
  const int pad = want["special_ids"]["<|audio_pad|>"].get<int>();
  const auto first = std::find(prompt.begin(), prompt.end(), pad) - prompt.begin();
  const auto path_of = [&](dtype format) {
    nn::qwen3_decoder_state state = model.state_for(format);
    rows x(static_cast<extent>(prompt.size()), model.text.width()), next(1, model.text.width());
    model.text.embed(prompt, x);
    x.middleRows(first, encoded.rows()) = encoded;
    nn::qwen3_read(model.text, view<float>(x), state, c);
    next = x.bottomRows(1);
    rows path(static_cast<extent>(new_ids.size()), model.text.outputs());
    for (std::size_t i = 0; i < new_ids.size(); ++i) {
      model.text.logits(next, path.row(static_cast<extent>(i)), c);
      model.text.embed(std::span(new_ids).subspan(i, 1), next);
      model.text(next, state, c);
    }
    return path;
  };
  const rows exact = path_of(dtype::f32);
  const float largest = exact.cwiseAbs().maxCoeff();
  for (const auto& [format, measured] : {std::pair{dtype::f16, 2.1e-4f}, {dtype::q8_0, 2.4e-3f}}) {
    const float error = (path_of(format) - exact).cwiseAbs().maxCoeff() / largest;
    EXPECT_LE(error, 3 * measured) << core::info(format).name;
    for (const auto& [name, other] : want["runs"].items()) {
      const auto clip = test::load_wav(folder / other["wav"].get<std::string>()).pcm;
      const qwen3::qwen3_transcription t = model.transcribe(
          clip,
          {.language = other["force_language"].is_null() ? "" : other["force_language"].get<std::string>(),
           .prompt = other["context"].get<std::string>(),
           .cache = format},
          c);
      EXPECT_EQ(t.text, other["text"].get<std::string>()) << name;
    }
  }
}

// The clips of the cases in one call, cut recordings among them, on one thread and on two.
TEST_P(parity_qwen3_asr, recordings_are_written_together) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/qwen3_asr" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3(shared, GetParam());
  std::vector<std::vector<float>> clips;
  std::vector<std::string> texts;
  for (const char* name : {"main", "short", "zh", "silence"}) {
    clips.push_back(test::load_wav(folder / want["runs"][name]["wav"].get<std::string>()).pcm);
    texts.push_back(want["runs"][name]["text"].get<std::string>());
  }
  const json& far = want["long_audio"];
  clips.push_back(test::load_wav(folder / far["wav"].get<std::string>()).pcm);
  const std::vector<std::span<const float>> all(clips.begin(), clips.end());
  qwen3::qwen3_asr_options o;
  context c;
  for (const std::size_t together : {1u, 3u, 8u}) {
    const auto made = model.transcribe(std::span(all).first(4), o, c, together);
    ASSERT_EQ(made.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(made[i].text, texts[i]);
    EXPECT_EQ(made[2].language, "Chinese");
  }
  o.max_seconds = far["max_chunk_sec"].get<double>();
  o.search_expand = far["search_expand_sec"].get<double>();
  thread_pool pool(steno::test::threads(2));
  context two{executor(pool)};
  const auto made = model.transcribe(all, o, two);
  for (std::size_t i = 0; i < clips.size(); ++i) {
    const qwen3::qwen3_transcription alone = model.transcribe(clips[i], o, c);
    EXPECT_EQ(made[i].text, alone.text);
    EXPECT_EQ(made[i].language, alone.language);
    ASSERT_EQ(made[i].parts.size(), alone.parts.size());
    for (std::size_t k = 0; k < alone.parts.size(); ++k) {
      EXPECT_EQ(made[i].parts[k].ids, alone.parts[k].ids);
      EXPECT_EQ(made[i].parts[k].start, alone.parts[k].start);
      EXPECT_EQ(made[i].parts[k].count, alone.parts[k].count);
    }
  }
  EXPECT_EQ(made[4].text, far["text"].get<std::string>());
}

}  // namespace qwen3_asr_test
