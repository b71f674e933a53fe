// Fun-ASR-Nano on the compact golden set: encoder, adaptor, prompts and CTC head on the original's features.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/fun_asr_nano.hpp>
#include <steno/weights/random.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <set>

namespace fun_asr_nano_test {

using namespace steno;

using rows = matrix<float, dynamic, dynamic>;

std::filesystem::path folder() { return test::compact() / "fun_asr_nano"; }
rows load_rows(const std::string& name) {
  const npy::array a = npy::load(folder() / name);
  const std::vector<float> values = a.floats();
  return core::make_view(values.data(), a.rows(), a.cols());
}
nlohmann::json expected() {
  std::ifstream in(folder() / "expected.json");
  return nlohmann::json::parse(in);
}
const funasr::fun_asr_nano_any& model() {
  static const auto loaded = load<funasr::fun_asr_nano_any>((folder() / "model.gguf").string());
  return loaded;
}
// 1e-4 of max(1, absmax): the contract's bound; weights are stored as the original had them.
void expect_near(const rows& a, const rows& b) {
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), 1e-4f * std::max(1.0f, b.cwiseAbs().maxCoeff()));
}

TEST(fun_asr_nano, encoder_adaptor_prompt_and_labels) {
  const auto want = expected();
  const rows features = load_rows("lfr.npy");
  rows encoded(features.rows(), model().audio_encoder.output_size());
  for (const int threads : {1, 2}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    nn::apply(model().audio_encoder, features, encoded, c);
    expect_near(encoded, load_rows("encoder_out.npy"));
    const auto p = model().prompt({});
    const extent audio = model().audio_tokens(features.rows());
    EXPECT_EQ(audio, want["fake_token_len"].get<extent>());
    EXPECT_EQ(static_cast<extent>(p.before.size()), want["fbank_beg"].get<extent>());
    rows x(static_cast<extent>(p.before.size() + p.after.size()) + audio, model().llm.width());
    model().embed_prompt(p, encoded, x, c);
    expect_near(x, load_rows("inputs_embeds.npy"));
    expect_near(x.middleRows(static_cast<extent>(p.before.size()), audio), load_rows("audio_embeds_used.npy"));
    rows scores(features.rows(), model().ctc_lo.output_size());
    model().score(encoded, scores, c);
    expect_near(scores, load_rows("ctc_log_probs.npy"));
    std::vector<search::ctc_token> labels;
    search::ctc_greedy(core::read(scores), want["ctc_blank_id"].get<int>(), labels);
    std::vector<int> found;
    for (const search::ctc_token& t : labels) found.push_back(t.id);
    EXPECT_EQ(found, want["ctc_token_ids"].get<std::vector<int>>());
  }
}

TEST(fun_asr_nano, prompts_and_lengths) {
  const auto want = expected();
  for (const auto& v : want["samples_lfrframes_faketokenlen"]) {
    EXPECT_EQ(model().frontend.rows(v[0].get<extent>()), v[1].get<extent>()) << v;
    EXPECT_EQ(model().audio_tokens(v[1].get<extent>()), v[2].get<extent>()) << v;
  }
  EXPECT_EQ(want["prompts"].size(), 5u);
  for (const auto& v : want["prompts"]) {
    funasr::fun_asr_nano_options o;
    const auto& args = v["args"];
    if (args.contains("itn")) o.itn = args["itn"].get<bool>();
    if (args.contains("language")) o.language = args["language"].get<std::string>();
    if (args.contains("hotwords")) o.hotwords = args["hotwords"].get<std::vector<std::string>>();
    EXPECT_EQ(funasr::fun_asr_nano_prompt(o), v["prompt"].get<std::string>());
    EXPECT_EQ(model().prompt(o).before, v["prefix_token_ids"].get<std::vector<int>>());
    EXPECT_EQ(model().prompt(o).after, v["suffix_token_ids"].get<std::vector<int>>());
  }
}

// A CTC decoder that was fitted to a recording, and answers of a language model: when their tokens were spoken.
TEST(fun_asr_nano, times_of_answers) {
  const std::filesystem::path at = test::compact() / "fun_asr_nano_ctc";
  std::ifstream in(at / "expected.json");
  const auto want = nlohmann::json::parse(in);
  const auto aligner = load<funasr::fun_asr_nano_any>((at / "model.gguf").string());
  ASSERT_TRUE(aligner.aligns());
  EXPECT_FALSE(model().aligns());
  const npy::array a = npy::load(at / "encoder_out.npy"), golden = npy::load(at / "ctc_log_probs.npy");
  const std::vector<float> values = a.floats();
  const rows encoded = core::make_view(values.data(), a.rows(), a.cols());
  for (const int threads : {1, 2}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    rows scores(aligner.ctc_rows(encoded.rows()), aligner.ctc_lo.output_size());
    aligner.score(encoded, scores, c);
    EXPECT_LE(test::compare(core::read(scores), golden).relative(), 1e-4);
    for (const auto& run : want["runs"])
      for (const auto& [text, times] :
           {std::pair(run["text"], run["timestamps"]), std::pair(run["ctc_text"], run["ctc_timestamps"])}) {
        const auto got = aligner.read_ctc(encoded, text.get<std::string>(), c);
        EXPECT_EQ(got.text, run["ctc_text"].get<std::string>());
        ASSERT_EQ(got.times.size(), times.size()) << text;
        for (std::size_t i = 0; i < times.size(); ++i) {
          EXPECT_EQ(got.times[i].start, times[i]["start_time"].get<double>());
          EXPECT_EQ(got.times[i].end, times[i]["end_time"].get<double>());
          EXPECT_NEAR(std::exp(got.times[i].log_probability), times[i]["score"].get<double>(), 5.1e-4);
        }
      }
  }
  // Words of the tokens: a character in several of them is one, punctuation belongs to the word before it.
  context c;
  const std::string answer = want["runs"][1]["text"];
  std::string joined;
  double last = 0;
  for (const word& w : aligner.words_of(aligner.read_ctc(encoded, answer, c).times, 100)) {
    EXPECT_LE(last, w.start);
    EXPECT_LT(w.start, w.end);
    EXPECT_EQ(w.how, timing::native);
    joined += w.text;
    last = w.end;
  }
  std::string bare = answer;
  std::erase(bare, ' ');
  EXPECT_EQ(joined, bare);
}

TEST(fun_asr_nano, prompts_of_the_multilingual_model) {
  std::ifstream in(test::compact() / "fun_asr_nano_ctc" / "expected.json");
  const auto want = nlohmann::json::parse(in)["prompts"];
  EXPECT_GT(want.size(), 20u);
  std::size_t by_code = 0;
  for (const auto& [how, prompt] : want.items()) {
    if (how.starts_with("hotwords ")) continue;
    funasr::fun_asr_nano_options o;
    const std::string name = how.substr(0, how.find('/'));
    o.itn = how.ends_with("True");
    if (name != "None") o.language = name;
    EXPECT_EQ(funasr::fun_asr_nano_prompt(o), prompt.get<std::string>()) << how;
    for (const auto& l : funasr::fun_asr_nano_languages)
      if (l.name == name) {
        o.language = l.code;
        EXPECT_EQ(funasr::fun_asr_nano_prompt(o), prompt.get<std::string>()) << how;
        ++by_code;
      }
  }
  EXPECT_EQ(by_code, 24u);
}

// The set's file holds no language model, so it says so instead of writing.
TEST(fun_asr_nano, without_a_language_model_nothing_is_written) {
  context c;
  EXPECT_THROW((void)model().recognise(std::vector<float>(16000), {}, c), error);
}

// With a language model of random numbers: writing ends, says why, and no words stand four times in a row.
TEST(fun_asr_nano, noise_and_silence_end) {
  using random_model = funasr::fun_asr_nano<funasr::fun_asr_nano_sizes{
      .audio_encoder = {.features = 560, .width = 32, .heads = 4, .units = 64, .taps = 11, .blocks = 3, .tp_blocks = 2},
      .audio_adaptor = {.features = 32, .inner = 96, .width = 64, .heads = 8, .units = 16, .blocks = 2, .rate = 1},
      .ctc_decoder = {.features = 32, .inner = 64, .width = 32, .heads = 8, .units = 8, .blocks = 2, .rate = 1},
      .ctc_vocabulary = 61,
      .llm = {.width = 64,
              .heads = 4,
              .key_heads = 2,
              .head_width = 32,
              .units = 192,
              .layers = 2,
              .vocabulary = 320,
              .outputs = 320,
              .rope_theta = 1000000}}>;
  std::set<std::string> stops;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    random_model m{gguf_file((folder() / "model.gguf").string())};
    weights::storage keep;
    weights::randomise(m, keep, seed);
    test::random_numbers random(seed);
    for (const float loud : {0.0f, 0.2f}) {
      std::vector<float> pcm(16000 * 4);
      for (float& x : pcm) x = loud * random.uniform(-1, 1);
      context c;
      funasr::fun_asr_nano_options o;
      o.max_new_tokens = 300;
      const segment s = m.recognise(pcm, o, c);
      EXPECT_LE(s.token_ids.size(), 300u);
      stops.insert(s.stop_reason);
      EXPECT_EQ(text::limit_repeats(s.text, 3), s.text);
      o.max_new_tokens = 2;
      EXPECT_LE(m.recognise(pcm, o, c).token_ids.size(), 2u);
      o.cache = dtype::q4_0;
      EXPECT_THROW((void)m.recognise(pcm, o, c), error);
    }
  }
  for (const std::string& s : stops) EXPECT_TRUE(s == "end_of_text" || s == "max_tokens" || s == "repetition") << s;
}

// A text that a random language model writes has times where the CTC decoder and its tokens are there; its words lie in
// the recording.
TEST(fun_asr_nano, what_is_written_has_times) {
  using random_model = funasr::fun_asr_nano<funasr::fun_asr_nano_sizes{
      .audio_encoder = {.features = 560, .width = 32, .heads = 4, .units = 48, .taps = 11, .blocks = 1, .tp_blocks = 1},
      .audio_adaptor = {.features = 32, .inner = 48, .width = 48, .heads = 8, .units = 12, .blocks = 1, .rate = 1},
      .ctc_decoder = {.features = 32, .inner = 64, .width = 32, .heads = 8, .units = 8, .blocks = 3, .rate = 1},
      .ctc_vocabulary = 293,
      .llm = {.width = 48,
              .heads = 4,
              .key_heads = 2,
              .head_width = 16,
              .units = 96,
              .layers = 1,
              .vocabulary = 320,
              .outputs = 320,
              .rope_theta = 1000000}}>;
  std::size_t words = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    random_model m{gguf_file((test::compact() / "fun_asr_nano_ctc" / "model.gguf").string())};
    weights::storage keep;
    weights::randomise(m, keep, seed);
    test::random_numbers random(seed);
    std::vector<float> pcm(16000 * 3);
    for (float& x : pcm) x = 0.1f * random.uniform(-1, 1);
    context c;
    funasr::fun_asr_nano_options o;
    o.max_new_tokens = 8;
    const segment s = m.recognise(pcm, o, c);
    words += s.words.size();
    for (const word& w : s.words) {
      EXPECT_LE(0, w.start);
      EXPECT_LT(w.start, w.end);
      EXPECT_LE(w.end, s.end);
      EXPECT_GE(w.confidence, 0);
      EXPECT_LE(w.confidence, 1);
    }
    EXPECT_EQ(s.extra.size(), 1u);
    o.word_timestamps = false;
    const segment without = m.recognise(pcm, o, c);
    EXPECT_EQ(without.text, s.text);
    EXPECT_TRUE(without.words.empty());
    EXPECT_TRUE(without.extra.empty());
  }
  EXPECT_GT(words, 2u);
}

}  // namespace fun_asr_nano_test
