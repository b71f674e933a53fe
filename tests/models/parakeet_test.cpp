// Parakeet on the compact golden set: stages, steps, states and chunks of the small streaming model; TDT's and CTC's
// greedy searches; windows of long recordings, sentences, beams and hotwords.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_sentences.hpp>
#include <steno/models/parakeet_transducer.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/signal.hpp"
#include "support/wav.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace parakeet_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using table = matrix<float, dynamic, dynamic>;
using model_type = nemo::parakeet_transducer_any;
const fs::path folder = test::compact() / "parakeet";
// The contract's bound for f32: sums run in another order than torch's, nothing else differs.
constexpr double tolerance = 1e-4;

model_type small() { return load<model_type>((folder / "model.gguf").string()); }

json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}
table read_table(const char* name) {
  const npy::array a = npy::load(folder / (std::string(name) + ".npy"));
  const std::vector<float> v = a.floats();
  return core::make_view(v.data(), a.rows(), a.cols());
}
std::vector<int> ids_of(std::span<const nemo::transducer_token> tokens) {
  std::vector<int> ids;
  for (const nemo::transducer_token& t : tokens) ids.push_back(t.id);
  return ids;
}

// The golden rows end before those that see the end of the features.
TEST(parakeet, stages_of_the_encoder) {
  const auto m = small();
  const table x = read_table("logmel");
  std::map<std::string, double> seen;
  const auto sink = [&](std::string_view path, const view<const float>& rows) {
    const std::string name = stages::nemo(path);
    if (!fs::exists(folder / (name + ".npy"))) return;
    const npy::array want = npy::load(folder / (name + ".npy"));
    ASSERT_GE(rows.rows(), want.rows());
    seen[name] = test::compare(core::read(rows.topRows(want.rows())), want).relative();
  };
  context c(executor{}, core::tracer(sink));
  table y(m.encoder.rows(x.rows()), m.encoder.output_size());
  {
    const auto scope = c.enter("encoder");
    m.encoder(x, y, nullptr, nn::fastconformer_env{.window = m.window}, c);
  }
  EXPECT_EQ(seen.size(), 7u);
  for (const auto& [name, difference] : seen) EXPECT_LE(difference, tolerance) << name;
}

TEST(parakeet, steps_and_states_of_the_greedy_search) {
  const auto m = small();
  const json want = expected();
  std::map<std::string, std::vector<float>> steps;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path.starts_with("step."))
      steps[std::string(path.substr(5))].insert(steps[std::string(path.substr(5))].end(), x.data(),
                                                x.data() + x.size());
    if (path == "joint_enc_proj") test::expect_close(x, folder / "joint_enc_proj.npy", tolerance);
  };
  context c(executor{}, core::tracer(sink));
  auto found = m.begin(c);
  m.advance(found, read_table("encoder_out"), 0, want["max_symbols"].get<extent>(), c);
  EXPECT_EQ(ids_of(found.tokens), want["token_ids"].get<std::vector<int>>());
  std::vector<extent> frames;
  for (const nemo::transducer_token& t : found.tokens) frames.push_back(t.frame);
  EXPECT_EQ(frames, want["token_frames"].get<std::vector<extent>>());
  for (const char* name : {"joint_logits", "pred_out", "lstm_h", "lstm_c"}) {
    const npy::array golden = npy::load(folder / (std::string(name) + ".npy"));
    const auto& ours = steps[name];
    ASSERT_EQ(static_cast<extent>(ours.size()), golden.size()) << name;
    EXPECT_LE(test::compare(core::make_view(ours.data(), 1, golden.size()), golden).relative(), tolerance) << name;
  }
  // Scores that are not normalised give the same labels and probabilities.
  context quiet;
  auto again = m.begin(quiet);
  m.advance(again, read_table("encoder_out"), 0, want["max_symbols"].get<extent>(), quiet);
  ASSERT_EQ(ids_of(again.tokens), ids_of(found.tokens));
  for (std::size_t i = 0; i < again.tokens.size(); ++i) {
    EXPECT_NEAR(again.tokens[i].score, found.tokens[i].score, 1e-4f);  // of values up to 30
    EXPECT_NEAR(again.tokens[i].log_probability, found.tokens[i].log_probability, 1e-4f);
  }
}

// Chunks of the original's stream: 9 frames, then 16 behind 9 that were seen.
TEST(parakeet, chunks_with_caches) {
  const auto m = small();
  const json want = expected();
  const table x = read_table("logmel");
  const npy::array golden = npy::load(folder / "stream_encoder_out.npy");
  table rows(golden.rows(), golden.cols());
  context c;
  auto state = m.encoder.start();
  auto found = m.begin(c);
  extent at = 0, done = 0;
  for (const json& chunk : want["stream"]) {
    const extent before = at == 0 ? 0 : 9, frames = at == 0 ? 9 : 16;
    table y(2, m.encoder.output_size());
    m.encoder(core::as<const float, dynamic, dynamic>(x.middleRows(at - before, before + frames)), y, &state,
              nn::fastconformer_env{.drop = at == 0 ? 0 : 2, .keep = 70}, c);
    at += frames;
    rows.middleRows(done, 2) = y;
    m.advance(found, y, done, m.max_symbols, c);
    done += 2;
    using encoder = model_type::encoder_type;
    using block = nn::fastconformer_block<dynamic, dynamic, dynamic, dynamic>;
    EXPECT_EQ(block::get<"self_attn">(encoder::get<"layers">(state)[0]).cache.rows(), chunk[0].get<extent>());
    EXPECT_EQ(found.tokens.size(), chunk[1].get<std::size_t>());
  }
  ASSERT_EQ(done, golden.rows());
  EXPECT_LE(test::compare(core::read(rows), golden).relative(), tolerance);
  EXPECT_EQ(ids_of(found.tokens), want["stream_ids"].get<std::vector<int>>());
}

TEST(parakeet, greedy_tdt_takes_the_originals_steps) {
  const json want = expected()["tdt"];
  const table scores = read_table("tdt_joint_logits");
  const std::vector<int> durations{0, 1, 2, 3, 4};
  extent at = 0;
  std::vector<std::vector<extent>> steps;
  const auto joint = [&](extent) { return scores.data() + at++ * scores.cols(); };
  const auto accept = [&](const search::transducer_step& s, const float*) {
    steps.push_back({s.frame, s.label, s.duration});
  };
  search::transducer_greedy(
      {.blank = want["blank_id"].get<int>(), .durations = durations, .max_symbols = want["max_symbols"].get<extent>()},
      0, want["enc_valid"].get<extent>(), joint, accept);
  EXPECT_EQ(steps, want["steps"].get<std::vector<std::vector<extent>>>());
}

TEST(parakeet, greedy_ctc_and_its_beam) {
  const table scores = read_table("ctc_log_probs");
  const auto want = expected()["ctc"]["token_ids"].get<std::vector<int>>();
  const int blank = static_cast<int>(scores.cols()) - 1;
  std::vector<search::ctc_token> tokens;
  search::ctc_greedy(core::read(scores), blank, tokens);
  std::vector<int> ids;
  for (const search::ctc_token& t : tokens) ids.push_back(t.id);
  EXPECT_EQ(ids, want);
  search::ctc_prefix_beam beam({.blank = blank});
  beam.advance(core::read(scores));
  EXPECT_GE(beam.score(0), beam.viterbi_score(0));
}

// With limited attention a row depends on few others: windows that reach farther give the same rows.
TEST(parakeet, windows_give_the_rows_of_the_whole) {
  auto m = small();
  // 3 layers: at most 3 (4 + 8) rows before and 3 * 2 behind, and the subsampling's own.
  m.window = {.back = 4, .ahead = 2};
  const auto pcm = test::chirp(16000 * 14 + 321);
  context c;
  const extent n = m.frames(static_cast<extent>(pcm.size()));
  const auto rows_of = [&](const nemo::parakeet_windows& w) {
    table all(n, m.encoder.output_size());
    extent next = 0;
    nemo::encode_windows(m, pcm, w, c, [&](const auto& rows, extent first) {
      EXPECT_EQ(first, next);
      all.middleRows(first, rows.rows()) = rows;
      next = first + rows.rows();
    });
    EXPECT_EQ(next, n);
    return all;
  };
  const table whole = rows_of({});
  for (const double middle : {0.8, 2.0, 5.0}) {
    const table cut = rows_of({.whole = 1, .left = 3.2, .middle = middle, .right = 0.8});
    // Sums of other lengths in the attention; the last row sees the end's padding in both.
    EXPECT_LE((cut - whole).cwiseAbs().maxCoeff(), 1e-4f * whole.cwiseAbs().maxCoeff()) << middle;
    const nemo::parakeet_windows w{.whole = 1, .left = 3.2, .middle = middle, .right = 0.8};
    EXPECT_EQ(m.recognise(pcm, {.windows = w}, c).token_ids, m.recognise(pcm, {}, c).token_ids) << middle;
  }
}

TEST(parakeet, scratch_of_a_long_recording_is_that_of_a_window) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 60);
  const nemo::parakeet_windows w{.whole = 5, .left = 2, .middle = 4, .right = 1};
  context c;
  (void)m.recognise(std::span(pcm).first(16000 * 15), {.windows = w}, c);
  const std::size_t small_peak = c.scratch.peak();
  (void)m.recognise(pcm, {.windows = w}, c);
  EXPECT_EQ(c.scratch.peak(), small_peak);
}

TEST(parakeet, sentences_end_at_pauses_and_are_told_once) {
  const auto m = small();
  std::vector<tokenizers::placed_token> tokens;
  std::vector<float> log_probs;
  for (extent i = 0; i < 30; ++i) {  // odd pieces begin words; a pause of 20 rows behind every tenth token
    tokens.push_back({static_cast<int>(21 + i), 3 * i + i / 10 * 20, 3 * i + i / 10 * 20 + 1});
    log_probs.push_back(-0.5f);
  }
  std::vector<int> joined;
  std::vector<segment> emitted;
  nemo::parakeet_sentences sentences;
  for (std::size_t n = 1; n <= tokens.size(); ++n)
    sentences.advance(m, std::span(tokens).first(n), std::span(log_probs).first(n), n == tokens.size(), [&](segment s) {
      joined.insert(joined.end(), s.token_ids.begin(), s.token_ids.end());
      emitted.push_back(std::move(s));
    });
  ASSERT_EQ(joined.size(), tokens.size());
  for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_EQ(joined[i], tokens[i].id);
  ASSERT_EQ(emitted.size(), 3u);
  for (std::size_t i = 0; i + 1 < emitted.size(); ++i) EXPECT_GE(emitted[i + 1].start - emitted[i].end, 1.0);
  EXPECT_NEAR(static_cast<double>(emitted[0].words[0].confidence), std::exp(-0.5), 1e-6);
}

// <EOU> and <EOB> end a sentence and stand in no text and no word, also of sessions that decode windows.
TEST(parakeet, labels_that_end_turns_are_no_text) {
  const auto m = small();
  ASSERT_TRUE(m.ends_turn(m.end_of_turn) && m.ends_turn(m.end_of_backchannel));
  std::vector<tokenizers::placed_token> tokens;
  const int ids[] = {21, 22, m.end_of_turn, m.end_of_backchannel, 23, 24, m.end_of_backchannel, 25, m.end_of_turn};
  for (const int id : ids) tokens.push_back({id, std::ssize(tokens), std::ssize(tokens) + 1});
  const std::vector<float> log_probs(tokens.size(), -0.5f);
  for (const std::size_t step : {std::size_t{1}, std::size_t{4}, tokens.size()}) {
    std::vector<std::vector<int>> emitted;
    nemo::parakeet_sentences sentences;
    for (std::size_t n = std::min(step, tokens.size());; n = std::min(n + step, tokens.size())) {
      sentences.advance(m, std::span(tokens).first(n), std::span(log_probs).first(n), n == tokens.size(),
                        [&](segment s) {
                          EXPECT_EQ(s.text.find('<'), std::string::npos) << s.text;
                          for (const word& w : s.words) EXPECT_EQ(w.text.find('<'), std::string::npos) << w.text;
                          emitted.push_back(s.token_ids);
                        });
      if (n == tokens.size()) break;
    }
    EXPECT_EQ(emitted, (std::vector<std::vector<int>>{{21, 22}, {23, 24}, {25}})) << step;
    EXPECT_EQ(sentences.emitted(), tokens.size());
  }
}

// A CTC head that has such labels: the original's text has them, a reader's has not.
TEST(parakeet, labels_that_end_turns_are_no_text_of_a_ctc_head) {
  nemo::parakeet_ctc_any m;
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = {"\xe2\x96\x81yes", "<EOU>", "\xe2\x96\x81no"};
  m.tokenizer = tokenizers::sentencepiece(std::move(v));
  m.words = tokenizers::nemo_words(m.tokenizer);
  m.end_of_turn = 1;
  const auto result = [&](bool with_ends) {
    nemo::parakeet_ctc_any::search found;
    found.tokens = {{0, 0, 1}, {1, 1, 2}, {2, 5, 6}, {1, 6, 7}};
    found.log_probabilities = {-1, -2, -3, -4};
    segment s;
    m.write_result(found, s, with_ends);
    return s;
  };
  EXPECT_EQ(result(true).text, "yes<EOU> no<EOU>");
  const segment s = result(false);
  EXPECT_EQ(s.text, "yes no");
  EXPECT_EQ(s.token_ids, (std::vector<int>{0, 2}));
  ASSERT_EQ(s.words.size(), 2u);
  EXPECT_EQ(s.words[1].text, "no");
  EXPECT_NEAR(static_cast<double>(s.words[1].confidence), std::exp(-3.0), 1e-6);
}

// Ten minutes without a full stop or a pause: parts of at most 20 s, cut at their widest gaps; all tokens, once each.
TEST(parakeet, speech_without_an_end_is_cut_at_its_widest_gaps) {
  const auto m = small();
  std::vector<tokenizers::placed_token> tokens;
  std::vector<float> log_probs;
  extent at = 0;
  for (extent i = 0; i < 2500; ++i) {
    at += 2 + (i % 50 == 0 ? 5 : 0);  // a gap of 0.5 s before every fiftieth (a word begins), of 0.1 s before others
    tokens.push_back({static_cast<int>(21 + i % 30), at, at + 1});
    log_probs.push_back(-0.5f);
  }
  const auto emitted_in_steps = [&](std::size_t step) {
    std::vector<segment> emitted;
    nemo::parakeet_sentences sentences(1, 20);
    std::size_t gone = 0;  // forgotten
    for (std::size_t n = std::min(step, tokens.size());; n = std::min(n + step, tokens.size())) {
      sentences.advance(m, std::span(tokens).subspan(gone, n - gone), std::span(log_probs).subspan(gone, n - gone),
                        n == tokens.size(), [&](segment s) { emitted.push_back(std::move(s)); });
      const std::size_t some = sentences.emitted() / 2;
      sentences.forgot(some);
      gone += some;
      if (n == tokens.size()) return emitted;
    }
  };
  const std::vector<segment> emitted = emitted_in_steps(1);
  std::vector<int> joined;
  for (const segment& s : emitted) {  // what was settled on the way is in the sentence, in its first half
    nemo::parakeet_sentences sentences(1, 20);
    std::size_t most = 0;
    for (std::size_t n = 1; n <= tokens.size() - joined.size() && sentences.emitted() == 0; ++n) {
      const auto rest = std::span(tokens).subspan(joined.size(), n);
      sentences.advance(m, rest, std::span(log_probs).first(n), false, [](const segment&) {});
      if (sentences.emitted() == 0) most = std::max(most, sentences.settled(m, rest).size());
    }
    EXPECT_LE(most, s.token_ids.size());
    if (&s != &emitted.back()) {
      EXPECT_GE(most, 50u);  // of some 110 in 20 s
    }
    joined.insert(joined.end(), s.token_ids.begin(), s.token_ids.end());
    EXPECT_LE(s.end - s.start, 20);
  }
  ASSERT_EQ(joined.size(), tokens.size());
  for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_EQ(joined[i], tokens[i].id);
  ASSERT_GT(emitted.size(), 20u);
  for (std::size_t i = 0; i + 1 < emitted.size(); ++i) EXPECT_GT(emitted[i + 1].start - emitted[i].end, 0.4) << i;
  for (const std::size_t step : {std::size_t{7}, std::size_t{100}, tokens.size()}) {
    const std::vector<segment> again = emitted_in_steps(step);
    ASSERT_EQ(again.size(), emitted.size()) << step;
    for (std::size_t i = 0; i < emitted.size(); ++i) EXPECT_EQ(again[i].token_ids, emitted[i].token_ids);
  }
}

TEST(parakeet, a_beam_finds_hotwords) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 5);
  context c;
  const std::vector<std::vector<int>> phrases{{30, 31, 32}};
  const search::hotword_automaton strong(phrases, {.score = 12});
  const auto holds = [&](const std::vector<int>& ids) {
    return std::search(ids.begin(), ids.end(), phrases[0].begin(), phrases[0].end()) != ids.end();
  };
  const segment plain = m.recognise(pcm, {.beam = 4}, c), favoured = m.recognise(pcm, {.hotwords = &strong}, c);
  EXPECT_FALSE(plain.token_ids.empty());
  EXPECT_FALSE(holds(plain.token_ids));
  EXPECT_TRUE(holds(favoured.token_ids));
  EXPECT_EQ(plain.words.size() > 0, true);
  // In windows the search goes on: the same as with all rows at once.
  auto limited = small();
  limited.window = {.back = 4, .ahead = 2};
  const nemo::parakeet_windows w{.whole = 1, .left = 3.2, .middle = 1, .right = 0.8};
  EXPECT_EQ(limited.recognise(pcm, {.beam = 4, .windows = w}, c).token_ids,
            limited.recognise(pcm, {.beam = 4}, c).token_ids);
}

TEST(parakeet, a_ctc_head_is_asked_for_only_where_there_is_one) {
  const auto m = small();
  context c;
  EXPECT_THROW((void)m.recognise(test::chirp(16000), {.ctc = true}, c), error);
}

TEST(parakeet, words_of_one_frame_share_it) {
  const auto parted = [](std::vector<std::pair<double, double>> times) {
    std::vector<word> words;
    for (const auto& [start, end] : times) words.push_back({.text = "w", .start = start, .end = end});
    model_type::part_words(words);
    times.clear();
    for (const word& w : words) times.emplace_back(w.start, w.end);
    return times;
  };
  using list = std::vector<std::pair<double, double>>;
  EXPECT_EQ(parted({}), list{});
  EXPECT_EQ(parted({{0, 1}, {1, 2}, {3, 4}}), (list{{0, 1}, {1, 2}, {3, 4}}));
  EXPECT_EQ(parted({{0, 2}, {1, 3}}), (list{{0, 1}, {1, 3}}));                      // runs into the next
  EXPECT_EQ(parted({{1, 2}, {1, 2}, {5, 6}}), (list{{1, 1.5}, {1.5, 2}, {5, 6}}));  // one frame
  EXPECT_EQ(parted({{1, 2}, {1, 5}, {3, 4}}), (list{{1, 2}, {2, 3}, {3, 4}}));      // until the next begins
  EXPECT_EQ(parted({{1, 1}, {1, 3}}), (list{{1, 1}, {1, 3}}));  // TDT's labels without a duration stay as they are
}

TEST(parakeet, turns_are_segments_without_the_labels_that_end_them) {
  const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";
  const auto m = load<model_type>((examples / "models/parakeet-eou.gguf").string());
  ASSERT_GE(m.end_of_turn, 0);
  std::vector<float> pcm;
  for (const char* name : {"train.wav", "question.wav"}) {
    const std::vector<float> one = test::load_wav(examples / "audio" / name).pcm;
    pcm.insert(pcm.end(), one.begin(), one.end());
    pcm.insert(pcm.end(), 16000, 0.0f);
  }
  context c;
  const segment all = m.recognise(pcm, {}, c);  // what the original writes
  EXPECT_NE(all.text.find("<EOU>"), std::string::npos);
  for (const extent beam : {1, 4}) {
    const std::vector<segment> turns = m.recognise_turns(pcm, {.beam = beam}, c);
    ASSERT_EQ(turns.size(), 2u) << beam;
    EXPECT_EQ(turns[0].text, "the train to paris leaves in seven minutes");
    EXPECT_EQ(turns[1].text, "where did thomas leave the blue table");
    double before = 0;
    for (const segment& s : turns) {
      EXPECT_EQ(s.start, s.words.front().start);
      EXPECT_LE(s.words.back().end, s.end);
      for (const word& w : s.words) {
        EXPECT_GE(w.start, before) << w.text;
        EXPECT_GT(w.end, w.start) << w.text;
        before = w.end;
      }
      for (const int id : s.token_ids) EXPECT_FALSE(m.ends_turn(id));
    }
  }
  // Nothing was said at all, and no turn ended.
  EXPECT_TRUE(m.recognise_turns(std::vector<float>(16000), {}, c).empty());
}

}  // namespace parakeet_test
