// FastConformer models of NeMo against the original: every stage, ids, steps, states, times and chunks of the golden
// cases, from the .nemo file through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/pipelines/parakeet.hpp>
#include <steno/streaming/parakeet_stream.hpp>

#include "parity/nemo_case.hpp"

namespace parakeet_test {

using namespace steno;
using nlohmann::json;

TEST(parity_parakeet, ctc_stages_ids_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-ctc");
  const auto m = test::open<nemo::parakeet_ctc_any>(g);
  const segment s = test::run(m, g);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
  EXPECT_NEAR(test::score_of(s), g.want["score"].get<double>(), 1e-3);  // a sum of 138 values
  std::vector<search::ctc_token> tokens;
  const npy::array& golden = g.stages.at("log_probs");
  const std::vector<float> scores = golden.floats();
  search::ctc_greedy(core::make_view(scores.data(), golden.rows(), golden.cols()), m.blank(), tokens);
  test::expect_times(m.words, m.tokenizer, m.place(tokens), g.want["timestamps"]);
}

// Ids count through the languages' tokenizers in the config's order; the text is what ids_to_text joins.
TEST(parity_parakeet, aggregate_tokenizer) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-ctc-agg");
  const auto m = test::open<nemo::parakeet_ctc_any>(g);
  const segment s = test::run(m, g);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
}

TEST(parity_parakeet, transducer_stages_steps_states_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"parakeet-tdt", "parakeet-rnnt", "parakeet-eou"}) {
    SCOPED_TRACE(name);
    const test::nemo_case g(shared / "golden/nemo" / name);
    const auto m = test::open<nemo::parakeet_transducer_any>(g);
    const segment s = test::run(m, g);
    EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(s.text, g.want["text"].get<std::string>());
    EXPECT_NEAR(test::score_of(s), g.want["score"].get<double>(), 1e-3);  // a sum of up to 45 values

    context c;
    const npy::array& golden = g.stages.at("encoder_out");
    const std::vector<float> rows = golden.floats();
    auto found = m.begin(c);
    m.advance(found, core::make_view(rows.data(), golden.rows(), golden.cols()), 0, m.max_symbols, c);
    std::vector<extent> frames, durations;
    for (const nemo::transducer_token& t : found.tokens) {
      frames.push_back(t.frame);
      durations.push_back(t.duration);
    }
    EXPECT_EQ(frames, g.want["token_frames"].get<std::vector<extent>>());
    if (g.want.contains("token_durations")) {
      EXPECT_EQ(durations, g.want["token_durations"].get<std::vector<extent>>());
    }
    test::expect_times(m.words, m.tokenizer, m.place(found.tokens), g.want["timestamps"]);
  }
}

TEST(parity_parakeet, cache_aware_chunks_caches_tokens_and_events) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-eou");
  const auto m = test::open<nemo::parakeet_transducer_any>(g);
  const json& want = g.want["streaming"];
  const extent d = m.encoder.output_size();
  for (const std::size_t portion : {std::size_t{160}, std::size_t{1777}, g.pcm.size()}) {
    SCOPED_TRACE(portion);
    std::vector<float> rows;
    std::vector<int> turns, backchannels;
    std::size_t chunks = 0;
    nemo::parakeet_stream<nemo::parakeet_transducer_any>* live = nullptr;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path == "stream.encoder_out") rows.insert(rows.end(), x.data(), x.data() + x.size());
      if (path != "joint_enc_proj") return;  // between the encoder and the search: the caches of a chunk are complete
      if (portion == g.pcm.size())
        test::expect_caches(m, live->state(), g, "stream_chunk" + std::to_string(chunks) + "_cache_last_",
                            want["chunks"][chunks]["cache_len"].get<extent>());
      const auto before = live->tokens();
      if (chunks > 0) {
        const auto so_far = want["chunks"][chunks - 1]["tokens_so_far"].get<std::vector<int>>();
        ASSERT_EQ(before.size(), so_far.size()) << chunks;
      }
      ++chunks;
    };
    context c(executor{}, core::tracer(sink));
    nemo::parakeet_stream<nemo::parakeet_transducer_any> stream(m, {}, c);
    live = &stream;
    const auto collect = [&](const nemo::parakeet_event& e) {
      if (e.kind == nemo::parakeet_event_kind::end_of_turn) turns.push_back(static_cast<int>(e.tokens.back().frame));
      if (e.kind == nemo::parakeet_event_kind::end_of_backchannel)
        backchannels.push_back(static_cast<int>(e.tokens.back().frame));
      EXPECT_FALSE(e.tokens.empty());
    };
    for (std::size_t at = 0; at < g.pcm.size(); at += portion)
      stream.push(std::span(g.pcm).subspan(at, std::min(portion, g.pcm.size() - at)), c, collect);
    stream.finish(c, collect);
    EXPECT_EQ(chunks, want["chunks"].size());
    const npy::array& golden = g.stages.at("stream_encoder_out");
    ASSERT_EQ(static_cast<std::int64_t>(rows.size()), golden.size());
    EXPECT_LE(
        test::compare(core::make_view(static_cast<const float*>(rows.data()), golden.rows(), d), golden).relative(),
        1e-4);
    std::vector<int> ids, frames;
    for (const nemo::transducer_token& t : stream.tokens()) {
      ids.push_back(t.id);
      frames.push_back(static_cast<int>(t.frame));
    }
    EXPECT_EQ(ids, want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(frames, want["token_frames"].get<std::vector<int>>());
    std::vector<int> ends, asides;  // frames of the labels that the original gives
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (m.tokenizer.piece(ids[i]) == "<EOU>") ends.push_back(frames[i]);
      if (m.tokenizer.piece(ids[i]) == "<EOB>") asides.push_back(frames[i]);
    }
    EXPECT_EQ(turns, ends);
    EXPECT_EQ(backchannels, asides);
  }
}

TEST(parity_parakeet, models_of_whole_clips_do_not_stream) {
  STENO_REQUIRE_SHARED(shared);
  const test::nemo_case g(shared / "golden/nemo/parakeet-tdt");
  const auto m = test::open<nemo::parakeet_transducer_any>(g);
  context c;
  EXPECT_THROW((nemo::parakeet_stream<nemo::parakeet_transducer_any>(m, {}, c)), error);
}

}  // namespace parakeet_test
