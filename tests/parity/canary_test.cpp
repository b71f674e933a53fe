// Canary against the original: every stage, ids, texts, n-best lists and times of the golden cases, from the .nemo file
// through the converter; both tokenizers, both formats of prompts, and the tables of chunks and their merging.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/canary.hpp>
#include <steno/pipelines/canary.hpp>

#include "parity/nemo_case.hpp"

namespace canary_test {

using namespace steno;
using nlohmann::json;

using model_type = nemo::canary_any;

// The recorded slots of a prompt.
nemo::canary_options options_of(const json& slots) {
  const auto text = [&](const char* key) { return slots.value(key, std::string()); };
  const auto on = [&](const char* key) { return text(key) == "yes"; };
  nemo::canary_options o;
  o.language = text("source_lang");
  o.target_language = text("target_lang");
  o.punctuation = on("pnc");
  o.itn = on("itn");
  o.timestamps = on("timestamp");
  o.diarize = on("diarize");
  o.context = text("decodercontext");
  if (const std::string emotion = text("emotion"); !emotion.empty()) o.emotion = emotion.substr(6, emotion.size() - 8);
  return o;
}

struct window {
  nemo::canary_window w;
  window(const model_type& m, const test::nemo_case& g) {
    context c;
    m.encode_window(g.pcm, static_cast<extent>(g.pcm.size()), w, c);
  }
};

void expect_decoded(const model_type& m, nemo::canary_window& w, const json& want) {
  SCOPED_TRACE(want["name"].get<std::string>());
  context c;
  nemo::canary_options o = options_of(want["slots"]);
  const std::vector<int> prompt = m.tokens.prompt(m.tokenizer, o);
  EXPECT_EQ(prompt, want["prompt_ids"].get<std::vector<int>>());
  const search::nemo_beam_result greedy = m.decode_window(prompt, w, o, c);
  EXPECT_EQ(greedy.beams.size(), 1u);
  EXPECT_EQ(greedy.beams[0].ids, want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(m.tokenizer.decode(greedy.beams[0].ids), want["text"].get<std::string>());
  if (want.contains("ended_with_eos")) {
    EXPECT_EQ(greedy.beams[0].ended, want["ended_with_eos"].get<bool>());
  }
  if (!want.contains("beam_search")) return;
  for (const json& b : want["beam_search"]) {
    o.beam = b["beam_size"];
    o.length_penalty = b["length_penalty"].get<double>();
    SCOPED_TRACE(std::to_string(o.beam) + " " + std::to_string(*o.length_penalty));
    const search::nemo_beam_result found = m.decode_window(prompt, w, o, c);
    EXPECT_EQ(found.beams[found.best].ids, b["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(m.tokenizer.decode(found.beams[found.best].ids), b["text"].get<std::string>());
    ASSERT_EQ(found.beams.size(), b["n_best"].size());
    for (std::size_t i = 0; i < found.beams.size(); ++i) {
      EXPECT_EQ(found.beams[i].ids, b["n_best"][i]["token_ids"].get<std::vector<int>>()) << i;
      EXPECT_NEAR(found.beams[i].score, b["n_best"][i]["score"].get<double>(), 5e-3) << i;
    }
  }
}

TEST(parity_canary, stages) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"canary-v2", "canary-flash"}) {
    SCOPED_TRACE(name);
    const test::nemo_case g(shared / "golden/nemo" / name);
    const auto m = test::open<model_type>(g);
    test::stage_book book(g);
    nemo::canary_window w;
    {
      context c(executor{}, core::tracer(book));
      m.encode_window(g.pcm, static_cast<extent>(g.pcm.size()), w, c);
    }
    EXPECT_EQ(w.rows, g.want["enc_frames"].get<extent>());
    EXPECT_EQ(m.frames(static_cast<extent>(g.pcm.size())), g.want["enc_valid"].get<extent>());
    if (g.stages.contains("encoder_states")) {
      EXPECT_TRUE(m.projected);
    }
    for (const char* prompt : {"en_timestamps", "en_asr"}) {  // the decoder's stages are those of the second
      const json& want = *std::find_if(g.want["results"].begin(), g.want["results"].end(),
                                       [&](const json& r) { return r["name"] == prompt; });
      std::vector<int> ids = want["prompt_ids"];
      const auto given = static_cast<extent>(ids.size());
      for (const int id : want["token_ids"]) ids.push_back(id);
      context c;
      if (prompt == std::string("en_asr")) c.trace_to(core::tracer(book));
      matrix<float, dynamic, dynamic> scores(static_cast<extent>(ids.size()), m.decoder.vocabulary());
      m.score(ids, w, scores, c);
      const std::string stage = std::string("log_probs_") + prompt;
      book.seen[stage] =
          test::compare(core::read(scores.bottomRows(scores.rows() - given + 1)), g.stages.at(stage)).relative();
    }
    test::expect_all_stages(book, g, {"encoder_mask"});
  }
}

TEST(parity_canary, prompts_ids_texts_and_beams) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"canary-v2", "canary-flash"}) {
    SCOPED_TRACE(name);
    const test::nemo_case g(shared / "golden/nemo" / name);
    const auto m = test::open<model_type>(g);
    EXPECT_EQ(m.tokens.bos, g.want["bos"].get<int>());
    EXPECT_EQ(m.tokens.eos, g.want["eos"].get<int>());
    EXPECT_EQ(m.tokens.pad, g.want["pad"].get<int>());
    for (const auto& [piece, id] : g.want["special_ids"].items())
      EXPECT_EQ(m.tokens.find(m.tokenizer, piece), id.get<int>()) << piece;
    EXPECT_EQ(nemo::canary_tokens::frame_of(m.tokenizer, g.want["first_timestamp_id"]), 0);
    EXPECT_EQ(m.languages(), (std::vector<std::string>{"en", "de", "es", "fr"}));
    window one(m, g);
    for (const json& want : g.want["results"]) expect_decoded(m, one.w, want);
  }
}

// The same weights with the first format of prompts.
TEST(parity_canary, the_other_format_of_prompts) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/canary-flash");
  auto m = test::open<model_type>(g);
  m.tokens.format = nemo::canary_format::canary;
  window one(m, g);
  for (const json& want : g.want["other_prompt_format"]["results"]) expect_decoded(m, one.w, want);
}

// A call of recognise(): a clip is one window.
TEST(parity_canary, segments) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/canary-v2");
  const auto m = test::open<model_type>(g);
  context c;
  for (const json& want : g.want["results"]) {
    const nemo::canary_options o = options_of(want["slots"]);
    const segment s = m.recognise(g.pcm, o, c);
    EXPECT_EQ(s.token_ids, want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(s.stop_reason, want["ended_with_eos"].get<bool>() ? "end_of_text" : "context");
    if (!o.timestamps) {
      EXPECT_EQ(s.text, want["text"].get<std::string>());
    }
  }
}

TEST(parity_canary, times) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/canary-v2");
  for (const json& rule : g.want["timestamp_rule"]) {
    const nemo::canary_timed_text found = nemo::canary_times(rule["text"].get<std::string>());
    EXPECT_EQ(found.text, rule["clean"].get<std::string>());
    const auto expect = [&](const std::vector<tokenizers::placed_text>& ours, const char* kind) {
      const json& want = rule["timestamp"][kind];
      ASSERT_EQ(ours.size(), want.size()) << rule["text"];
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(ours[i].text, want[i][kind].get<std::string>());
        EXPECT_EQ(ours[i].start, want[i]["start_offset"].get<extent>());
        EXPECT_EQ(ours[i].end, want[i]["end_offset"].get<extent>());
      }
    };
    expect(found.words, "word");
    expect(tokenizers::nemo_words::sentences(found.words), "segment");
  }
}

TEST(parity_canary, windows_of_long_recordings_and_their_texts) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"canary-v2", "canary-flash"}) {
    const test::nemo_case g(shared / "golden/nemo" / name);
    for (const json& want : g.want["chunking"]) {
      const auto cut = nemo::canary_windows::of(want["samples"].get<extent>());
      SCOPED_TRACE(cut.total);
      EXPECT_EQ(cut.window, want["window"].get<extent>());
      ASSERT_EQ(cut.count(), static_cast<extent>(want["starts"].size()));
      for (extent i = 0; i < cut.count(); ++i) {
        EXPECT_EQ(cut.start(i), want["starts"][static_cast<std::size_t>(i)].get<extent>());
        EXPECT_EQ(cut.length(i), want["lengths"][static_cast<std::size_t>(i)].get<extent>());
      }
    }
    for (const json& want : g.want["merging"]) {
      std::vector<int> text = want["left"];
      search::merge_overlap(text, want["right"].get<std::vector<int>>());
      EXPECT_EQ(text, want["merged"].get<std::vector<int>>());
    }
  }
}

}  // namespace canary_test
