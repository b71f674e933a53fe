// FastConformer models of NeMo against the original: every stage, ids, steps, states, times and chunks of the golden
// cases, from the .nemo file through the converter.
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/streaming/parakeet_stream.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

namespace {

using table = matrix<float, dynamic, dynamic>;

json read_json(const fs::path& path) {
  std::ifstream in(path);
  return json::parse(in);
}

struct golden_case {
  fs::path folder;
  json want;
  std::vector<float> pcm;
  std::map<std::string, npy::array> stages;

  explicit golden_case(const fs::path& where)
      : folder(where), want(read_json(where / "expected.json")), pcm(test::load_wav(where / "input.wav").pcm) {
    for (const auto& e : fs::directory_iterator(folder / "stages"))
      stages.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  }
};

template <class Model>
Model open(const golden_case& g) {
  opened_checkpoint opened = open_checkpoint(g.folder / "checkpoint/model.nemo");
  return load<Model>(std::move(opened.file), {}, std::move(opened.image));
}

// Compares what a model shows with the golden stages; rows of steps are put one under another.
class stage_book {
 public:
  explicit stage_book(const golden_case& g) : golden_(g) {}
  void operator()(std::string_view path, const view<const float>& x) {
    if (path.starts_with("step.")) {
      std::vector<float>& all = steps_[std::string(path.substr(5))];
      for (extent t = 0; t < x.rows(); ++t)
        all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
      return;
    }
    const std::string name = stages::nemo(path);
    const auto want = golden_.stages.find(name);
    if (want == golden_.stages.end()) return;
    ASSERT_EQ(want->second.size(), x.rows() * x.cols()) << path;
    seen[name] = test::compare(x, want->second).relative();
  }
  void finish() {
    for (const auto& [name, values] : steps_) {
      const auto want = golden_.stages.find(name);
      if (want == golden_.stages.end()) continue;
      ASSERT_EQ(want->second.size(), static_cast<extent>(values.size())) << name;
      seen[name] =
          test::compare(core::make_view(values.data(), 1, static_cast<extent>(values.size())), want->second).relative();
    }
    steps_.clear();
  }
  std::map<std::string, double> seen;

 private:
  const golden_case& golden_;
  std::map<std::string, std::vector<float>> steps_;
};

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
void expect_all_stages(const stage_book& book, const golden_case& g) {
  for (const auto& [name, golden] : g.stages) {
    if (name.starts_with("stream_")) continue;
    const auto seen = book.seen.find(name);
    ASSERT_NE(seen, book.seen.end()) << name;
    EXPECT_LE(seen->second, 1e-4) << name;
  }
}

template <class Model>
segment run(const Model& m, const golden_case& g) {
  stage_book book(g);
  context c(executor{}, core::tracer(book));
  const segment s = m.recognise(g.pcm, {}, c);
  book.finish();
  expect_all_stages(book, g);
  return s;
}

// Characters, words and sentences with their frames, as the original lists them.
void expect_times(const tokenizers::nemo_words& rule, const tokenizers::sentencepiece& pieces,
                  const std::vector<tokenizers::placed_token>& tokens, const json& want) {
  std::vector<tokenizers::placed_token> flat;
  std::size_t at = 0;
  for (const json& c : want["char"]) {
    const std::size_t n = c["char"].is_array() ? c["char"].size() : 1;
    for (std::size_t i = 0; i < n; ++i, ++at) {
      ASSERT_LT(at, tokens.size());
      EXPECT_EQ(pieces.decode(std::span(&tokens[at].id, 1)),
                (c["char"].is_array() ? c["char"][i] : c["char"]).get<std::string>());
      EXPECT_EQ(tokens[at].start, c["start_offset"].get<extent>()) << at;
      EXPECT_EQ(tokens[at].end, c["end_offset"].get<extent>()) << at;
    }
  }
  EXPECT_EQ(at, tokens.size());
  const auto expect_texts = [](const std::vector<tokenizers::placed_text>& ours, const json& theirs, const char* key) {
    ASSERT_EQ(ours.size(), theirs.size()) << key;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].text, theirs[i][key].get<std::string>()) << i;
      EXPECT_EQ(ours[i].start, theirs[i]["start_offset"].get<extent>()) << i;
      EXPECT_EQ(ours[i].end, theirs[i]["end_offset"].get<extent>()) << i;
    }
  };
  const std::vector<tokenizers::placed_text> words = rule.words(pieces, tokens);
  expect_texts(words, want["word"], "word");
  expect_texts(tokenizers::nemo_words::sentences(words), want["segment"], "segment");
}

double score_of(const segment& s) { return s.score.value(); }

}  // namespace

TEST(parity_parakeet, ctc_stages_ids_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const golden_case g(shared / "golden/nemo/parakeet-ctc");
  const auto m = open<nemo::parakeet_ctc_any>(g);
  const segment s = run(m, g);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
  EXPECT_NEAR(score_of(s), g.want["score"].get<double>(), 1e-3);  // a sum of 138 values
  std::vector<search::ctc_token> tokens;
  const npy::array& golden = g.stages.at("log_probs");
  const std::vector<float> scores = golden.floats();
  search::ctc_greedy(core::make_view(scores.data(), golden.rows(), golden.cols()), m.blank(), tokens);
  expect_times(m.words, m.tokenizer, m.place(tokens), g.want["timestamps"]);
}

// Ids count through the languages' tokenizers in the config's order; the text is what ids_to_text joins.
TEST(parity_parakeet, aggregate_tokenizer) {
  STENO_REQUIRE_SHARED(shared);
  const golden_case g(shared / "golden/nemo/parakeet-ctc-agg");
  const auto m = open<nemo::parakeet_ctc_any>(g);
  const segment s = run(m, g);
  EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
  EXPECT_EQ(s.text, g.want["text"].get<std::string>());
}

TEST(parity_parakeet, transducer_stages_steps_states_text_and_times) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"parakeet-tdt", "parakeet-rnnt", "parakeet-eou"}) {
    SCOPED_TRACE(name);
    const golden_case g(shared / "golden/nemo" / name);
    const auto m = open<nemo::parakeet_transducer_any>(g);
    const segment s = run(m, g);
    EXPECT_EQ(s.token_ids, g.want["token_ids"].get<std::vector<int>>());
    EXPECT_EQ(s.text, g.want["text"].get<std::string>());
    EXPECT_NEAR(score_of(s), g.want["score"].get<double>(), 1e-3);  // a sum of up to 45 values

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
    expect_times(m.words, m.tokenizer, m.place(found.tokens), g.want["timestamps"]);
  }
}

// The original keeps the inputs of its attention layers; ours are keys and values, so the golden rows go through
// linear_k and linear_v first. The newest rows are the last ones of the golden cache.
TEST(parity_parakeet, cache_aware_chunks_caches_tokens_and_events) {
  STENO_REQUIRE_SHARED(shared);
  const golden_case g(shared / "golden/nemo/parakeet-eou");
  const auto m = open<nemo::parakeet_transducer_any>(g);
  const json& want = g.want["streaming"];
  const extent d = m.encoder.output_size();
  for (const std::size_t portion : {std::size_t{160}, std::size_t{1777}, g.pcm.size()}) {
    SCOPED_TRACE(portion);
    std::vector<float> rows;
    std::vector<int> turns, backchannels;
    std::size_t chunks = 0;
    nemo::parakeet_stream<nemo::parakeet_transducer_any>* live = nullptr;
    using encoder = nemo::parakeet_transducer_any::encoder_type;
    using block = nn::fastconformer_block<dynamic, dynamic, dynamic, dynamic>;
    const auto expect_caches = [&](std::size_t chunk) {
      const std::string at = "stream_chunk" + std::to_string(chunk) + "_cache_last_";
      if (!g.stages.contains(at + "time")) return;
      const npy::array &times = g.stages.at(at + "time"), &channels = g.stages.at(at + "channel");
      const std::vector<float> time = times.floats(), channel = channels.floats();
      const auto layers = static_cast<std::int64_t>(encoder::get<"layers">(live->state()).size());
      const extent taps = times.size() / layers / d, kept = channels.size() / layers / d;  // rows of a layer's caches
      const extent valid = want["chunks"][chunk]["cache_len"].get<extent>();
      ASSERT_LE(valid, kept) << chunk;
      context c;
      for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
        const auto& layer = encoder::get<"layers">(live->state())[l];
        const auto& convolution = block::get<"conv">(layer);
        const nn::kv_cache& cache = block::get<"self_attn">(layer).cache;
        double worst = 0;
        for (extent i = 0; i < d; ++i)
          for (extent t = 0; t < taps; ++t)
            worst = std::max(
                worst, std::fabs(static_cast<double>(convolution[static_cast<std::size_t>(t * d + i)]) -
                                 static_cast<double>(
                                     time[static_cast<std::size_t>((static_cast<extent>(l) * d + i) * taps + t)])));
        EXPECT_LE(worst, 1e-4) << chunk << " convolution " << l;
        ASSERT_EQ(cache.rows(), valid);
        const auto seen = core::make_view(channel.data() + (static_cast<extent>(l + 1) * kept - valid) * d, valid, d);
        table k(valid, d), v(valid, d);
        const auto& attention = m.encoder.get<"layers">().layers[l].get<"self_attn">();
        attention.products.key.multiply(seen, k, c);
        attention.products.value.multiply(seen, v, c);
        const extent wide = cache.key_width();
        ASSERT_EQ(cache.heads() * wide, d);
        ASSERT_EQ(cache.value_width(), wide);
        for (extent h = 0; h < cache.heads(); ++h) {
          const auto keys = core::make_view(cache.keys().data() + h * cache.key_head_stride(), valid, wide);
          const auto values = core::make_view(cache.values().data() + h * cache.value_head_stride(), valid, wide);
          EXPECT_LE((keys - k.middleCols(h * wide, wide)).cwiseAbs().maxCoeff(),
                    1e-4f * std::max(1.0f, k.cwiseAbs().maxCoeff()))
              << chunk;
          EXPECT_LE((values - v.middleCols(h * wide, wide)).cwiseAbs().maxCoeff(),
                    1e-4f * std::max(1.0f, v.cwiseAbs().maxCoeff()))
              << chunk;
        }
      }
    };
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path == "stream.encoder_out") rows.insert(rows.end(), x.data(), x.data() + x.size());
      if (path != "joint_enc_proj") return;  // between the encoder and the search: the caches of a chunk are complete
      if (portion == g.pcm.size()) expect_caches(chunks);
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
  const golden_case g(shared / "golden/nemo/parakeet-tdt");
  const auto m = open<nemo::parakeet_transducer_any>(g);
  context c;
  EXPECT_THROW((nemo::parakeet_stream<nemo::parakeet_transducer_any>(m, {}, c)), error);
}
