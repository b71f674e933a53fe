// Canary on the compact golden set: the decoder's stages and searches, prompts, windows and words.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/canary.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/signal.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace canary_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using table = matrix<float, dynamic, dynamic>;
using model_type = nemo::canary_any;
const fs::path folder = test::compact() / "canary";

model_type small() { return load<model_type>((folder / "model.gguf").string()); }
json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}
// The rows of the original's encoder, as if its window had been encoded.
nemo::canary_window window_of(const model_type& m, const json& want) {
  const npy::array a = npy::load(folder / "encoder_states.npy");
  const std::vector<float> v = a.floats();
  nemo::canary_window w;
  w.rows = want["enc_frames"];
  context c;
  const auto rows = core::make_view(v.data(), a.rows(), a.cols());
  m.decoder.keep_encoded(core::read(rows.topRows(want["enc_valid"].get<extent>())), w.encoded, c);
  return w;
}

TEST(canary, stages_of_the_decoder) {
  const auto m = small();
  const json all = expected(), &want = all["results"][0];
  nemo::canary_window w = window_of(m, all);
  std::vector<int> ids = want["prompt_ids"];
  const auto given = static_cast<extent>(ids.size());
  for (const int id : want["token_ids"]) ids.push_back(id);
  std::map<std::string, double> seen;
  const auto sink = [&](std::string_view path, const view<const float>& rows) {
    const std::string name = stages::nemo(path);
    if (!fs::exists(folder / (name + ".npy"))) return;
    seen[name] = test::compare(rows, npy::load(folder / (name + ".npy"))).relative();
  };
  context c(executor{}, core::tracer(sink));
  table scores(static_cast<extent>(ids.size()), m.decoder.vocabulary());
  m.score(ids, w, scores, c);
  EXPECT_EQ(seen.size(), 7u);
  for (const auto& [name, difference] : seen) EXPECT_LE(difference, 1e-4) << name;
  test::expect_close(core::read(scores.bottomRows(scores.rows() - given + 1)), folder / "log_probs_en_asr.npy", 1e-4);
}

TEST(canary, ids_and_scores_of_the_searches) {
  const auto m = small();
  const json all = expected();
  nemo::canary_window w = window_of(m, all);
  context c;
  for (const json& want : all["results"]) {
    SCOPED_TRACE(want["name"].get<std::string>());
    const std::vector<int> prompt = want["prompt_ids"];
    EXPECT_EQ(m.decode_window(prompt, w, {}, c).beams[0].ids, want["token_ids"].get<std::vector<int>>());
    for (const json& b : want["beams"]) {
      nemo::canary_options o;
      o.beam = b["beam"];
      o.length_penalty = b["length_penalty"].get<double>();
      const search::nemo_beam_result found = m.decode_window(prompt, w, o, c);
      EXPECT_EQ(found.beams[found.best].ids, b["token_ids"].get<std::vector<int>>());
      for (std::size_t i = 0; i < found.beams.size(); ++i)
        EXPECT_NEAR(found.beams[i].score, b["scores"][i].get<double>(), 5e-3);
    }
  }
  const std::vector<int> long_prompt(200, m.tokens.bos);
  EXPECT_NE(test::refusal([&] { (void)m.decode_window(long_prompt, w, {}, c); }).find("up to 160"), std::string::npos);
}

TEST(canary, prompts) {
  auto m = small();
  const auto& pieces = m.tokenizer;
  const json want = expected()["results"];
  const auto prompt = [&](const nemo::canary_prompt& p) { return m.tokens.prompt(pieces, p); };
  const auto refusal = [&](const nemo::canary_prompt& p) { return test::refusal([&] { (void)prompt(p); }); };
  EXPECT_EQ(prompt({}), want[0]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(prompt({.language = "en", .punctuation = false}), want[1]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(prompt({.language = "de", .target_language = "en"}), want[2]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(prompt({.target_language = "fr"}), want[3]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(prompt({.timestamps = true}), want[4]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(prompt({.itn = true, .diarize = true, .emotion = "happy"}), want[5]["prompt_ids"].get<std::vector<int>>());
  EXPECT_EQ(m.languages(), (std::vector<std::string>{"en", "de", "es", "fr"}));
  EXPECT_TRUE(m.tokens.has_times());
  // A text is written in the pieces of the target language: those of English begin at 88.
  const std::string word = std::string(pieces.piece(91)).substr(3);
  const std::vector<int> with = prompt({.context = word});
  ASSERT_GT(with.size(), prompt({}).size());
  EXPECT_GE(with[1], 88);
  EXPECT_LT(with[1], 144);
  EXPECT_GE(prompt({.target_language = "de", .context = word})[1], 144);
  EXPECT_NE(refusal({.context = "<|de|>"}).find("no special tokens"), std::string::npos);
  EXPECT_NE(refusal({.context = "\xe4\xb8\xad"}).find("context"), std::string::npos);
  EXPECT_NE(refusal({.language = "xx"}).find("<|xx|>"), std::string::npos);
  EXPECT_NE(refusal({.emotion = "bored"}).find("<|emo:bored|>"), std::string::npos);

  m.tokens.format = nemo::canary_format::canary;
  EXPECT_EQ(prompt({}), (std::vector<int>{4, 23, 21, 23, 5}));
  EXPECT_EQ(prompt({.language = "de", .target_language = "en", .punctuation = false}),
            (std::vector<int>{4, 24, 22, 23, 6}));
  EXPECT_FALSE(m.tokens.has_times());
  EXPECT_NE(refusal({.timestamps = true}).find("timestamps"), std::string::npos);
  EXPECT_NE(refusal({.itn = true}).find("itn"), std::string::npos);
  EXPECT_NE(refusal({.context = word}).find("context"), std::string::npos);
}

TEST(canary, windows_of_long_recordings_and_their_texts) {
  const json all = expected();
  for (const json& want : all["chunking"]) {
    const auto cut = nemo::canary_windows::of(want["samples"].get<extent>());
    SCOPED_TRACE(cut.total);
    EXPECT_EQ(cut.window, want["window"].get<extent>());
    ASSERT_EQ(cut.count(), static_cast<extent>(want["starts"].size()));
    for (extent i = 0; i < cut.count(); ++i) {
      EXPECT_EQ(cut.start(i), want["starts"][static_cast<std::size_t>(i)].get<extent>());
      EXPECT_EQ(cut.length(i), want["lengths"][static_cast<std::size_t>(i)].get<extent>());
    }
  }
  for (const json& want : all["merging"]) {
    std::vector<int> text = want["left"];
    search::merge_overlap(text, want["right"].get<std::vector<int>>());
    EXPECT_EQ(text, want["merged"].get<std::vector<int>>());
  }
  EXPECT_EQ(nemo::canary_zeros_before(16000), 0);
  EXPECT_EQ(nemo::canary_zeros_before(15999), 1);
  EXPECT_EQ(nemo::canary_zeros_before(1), 8000);
}

TEST(canary, words_stand_between_times) {
  const json all = expected();
  for (const json& rule : all["timestamp_rule"]) {
    const nemo::canary_timed_text found = nemo::canary_times(rule["text"].get<std::string>());
    EXPECT_EQ(found.text, rule["clean"].get<std::string>());
    const json& want = rule["timestamp"]["word"];
    ASSERT_EQ(found.words.size(), want.size()) << rule["text"];
    for (std::size_t i = 0; i < found.words.size(); ++i) {
      EXPECT_EQ(found.words[i].text, want[i]["word"].get<std::string>());
      EXPECT_EQ(found.words[i].start, want[i]["start_offset"].get<extent>());
      EXPECT_EQ(found.words[i].end, want[i]["end_offset"].get<extent>());
    }
  }
  EXPECT_EQ(nemo::canary_times("<|1|>a\n<|2|>").text, "<|1|>a\n<|2|>");  // a line ends what may stand between
  EXPECT_EQ(nemo::canary_times("<|1|><|x|> b<|2|>").words[0].text, "<|x|> b");
  EXPECT_EQ(nemo::canary_times("<|12345678901|>a<|2|>").words.size(), 0u);
}

// Times of a clip lie in it, also where zeros were put around it; so do those of windows.
TEST(canary, times_lie_in_the_recording) {
  const auto m = small();
  context c;
  nemo::canary_options o;
  o.timestamps = true;
  for (const extent count : {0, 1, 4000, 16000 * 5, 16000 * 61}) {
    const auto pcm = test::chirp(static_cast<std::size_t>(count));
    const segment s = m.recognise(pcm, o, c);
    EXPECT_EQ(s.end, static_cast<double>(count) / 16000);
    double last = 0;
    for (const word& w : s.words) {
      EXPECT_GE(w.start, 0);
      EXPECT_LE(w.end, s.end);
      EXPECT_GE(w.confidence, 0);
      EXPECT_LE(w.confidence, 1);
      last = w.end;
    }
    EXPECT_LE(last, s.end);
  }
}

TEST(canary, the_same_bits_for_any_number_of_threads) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 3);
  nemo::canary_options o;
  o.beam = 3;
  context one;
  const segment alone = m.recognise(pcm, o, one);
  thread_pool pool(3);
  context c{executor(pool)};
  const segment many = m.recognise(pcm, o, c);
  EXPECT_EQ(alone.token_ids, many.token_ids);
  EXPECT_EQ(alone.score, many.score);
  ASSERT_EQ(alone.alternatives.size(), 3u);
  EXPECT_EQ(alone.alternatives, many.alternatives);
  EXPECT_EQ(alone.alternatives[0].text, alone.text);
}

}  // namespace canary_test
