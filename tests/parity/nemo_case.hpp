// A recorded case of NeMo's FastConformer models: its files, the model from its archive, its stages against what the
// model shows, and the times that the original lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet_transducer.hpp>
#include <steno/streaming/parakeet_stream.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno::test {

struct nemo_case {
  std::filesystem::path folder;
  nlohmann::json want;
  std::vector<float> pcm;
  std::map<std::string, npy::array> stages;

  explicit nemo_case(const std::filesystem::path& where) : folder(where), pcm(load_wav(where / "input.wav").pcm) {
    std::ifstream in(where / "expected.json");
    want = nlohmann::json::parse(in);
    for (const auto& e : std::filesystem::directory_iterator(folder / "stages"))
      stages.emplace(e.path().stem().string().substr(3), npy::load(e.path()));
  }
  /// Rows of the encoder that are no padding; the original has a row more where a declared frame is none.
  extent valid_rows() const { return want.value("enc_valid", extent{-1}); }
};

template <class Model>
Model open(const nemo_case& g) {
  opened_checkpoint opened = open_checkpoint(g.folder / "checkpoint/model.nemo");
  return load<Model>(std::move(opened.file));
}

/// The largest difference to a recorded stage, as test::compare() counts it: of all of it, of the first frames of a
/// log-mel that was cut, or of the rows that are no padding.
inline double worst_of(std::string_view name, const view<const float>& x, const npy::array& golden, extent valid) {
  const extent rows = golden.rows(), cols = static_cast<extent>(golden.size()) / rows;
  if (golden.size() == x.rows() * x.cols()) return compare(x, golden).relative();
  const bool cut = name.ends_with("logmel") && x.rows() == rows && x.cols() > cols;
  const bool padded = x.cols() == cols && x.rows() == valid && rows > valid;
  if (!cut && !padded) {
    ADD_FAILURE() << name << " is " << x.rows() << " x " << x.cols() << ", recorded " << rows << " x " << cols;
    return 1;
  }
  const std::vector<float> values = golden.floats();
  const auto want = core::make_view(values.data(), rows, cols);
  const extent n = std::min(rows, x.rows());
  const float worst = (x.topLeftCorner(n, cols) - want.topRows(n)).cwiseAbs().maxCoeff();
  return static_cast<double>(worst / std::max(1.0f, want.topRows(n).cwiseAbs().maxCoeff()));
}

/// Compares what a model shows with the recorded stages; rows of steps are put one under another.
class stage_book {
 public:
  /// `language` is that of the prompt which the model has, if any.
  explicit stage_book(const nemo_case& g, std::string language = {}) : golden_(g), language_(std::move(language)) {}
  void operator()(std::string_view path, const view<const float>& x) {
    if (path.starts_with("step.")) {
      std::vector<float>& all = steps_[std::string(path.substr(5))];
      for (extent t = 0; t < x.rows(); ++t)
        all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
      return;
    }
    const std::string name = path == "prompted" ? "prompted_" + language_ : stages::nemo(path);
    const auto want = golden_.stages.find(name);
    if (want != golden_.stages.end()) seen[name] = worst_of(name, x, want->second, golden_.valid_rows());
  }
  void finish() {
    for (const auto& [name, values] : steps_) {
      const auto want = golden_.stages.find(name);
      if (want == golden_.stages.end()) continue;
      ASSERT_EQ(want->second.size(), static_cast<extent>(values.size())) << name;
      seen[name] =
          compare(core::make_view(values.data(), 1, static_cast<extent>(values.size())), want->second).relative();
    }
    steps_.clear();
  }
  std::map<std::string, double> seen;

 private:
  const nemo_case& golden_;
  std::string language_;
  std::map<std::string, std::vector<float>> steps_;
};

/// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
/// Stages of streams and of single windows are no part of a pass.
inline void expect_all_stages(const stage_book& book, const nemo_case& g, const std::vector<std::string>& but = {}) {
  for (const auto& [name, golden] : g.stages) {
    if (name.starts_with("stream_") || name.starts_with("window")) continue;
    if (std::find(but.begin(), but.end(), name) != but.end()) continue;
    const auto seen = book.seen.find(name);
    ASSERT_NE(seen, book.seen.end()) << name;
    EXPECT_LE(seen->second, 1e-4) << name;
  }
}

template <class Model>
segment run(const Model& m, const nemo_case& g) {
  stage_book book(g);
  context c(executor{}, core::tracer(book));
  const segment s = m.recognise(g.pcm, {}, c);
  book.finish();
  expect_all_stages(book, g);
  return s;
}

/// Characters, words and sentences with their frames, as the original lists them.
inline void expect_times(const tokenizers::nemo_words& rule, const tokenizers::sentencepiece& pieces,
                         const std::vector<tokenizers::placed_token>& tokens, const nlohmann::json& want) {
  std::vector<tokenizers::placed_token> flat;
  std::size_t at = 0;
  for (const nlohmann::json& c : want["char"]) {
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
  const auto expect_texts = [](const std::vector<tokenizers::placed_text>& ours, const nlohmann::json& theirs,
                               const char* key) {
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

inline double score_of(const segment& s) { return s.score.value(); }

/// The caches of a stream with caches behind a chunk. The original keeps the inputs of its attention layers; ours are
/// keys and values, so the recorded rows go through linear_k and linear_v first. The newest rows are the last ones.
template <class Model>
void expect_caches(const Model& m, const typename nemo::parakeet_stream<Model>::state_type& state, const nemo_case& g,
                   const std::string& at, extent valid) {
  using encoder = typename Model::encoder_type;
  using block = nn::fastconformer_block<dynamic, dynamic, dynamic, dynamic>;
  if (!g.stages.contains(at + "time")) return;
  const npy::array &times = g.stages.at(at + "time"), &channels = g.stages.at(at + "channel");
  const std::vector<float> time = times.floats(), channel = channels.floats();
  const extent d = m.encoder.output_size();
  const auto& all = encoder::template get<"layers">(state);
  const auto layers = static_cast<extent>(all.size());
  const extent taps = times.size() / layers / d, kept = channels.size() / layers / d;  // rows of a layer's caches
  ASSERT_LE(valid, kept) << at;
  context c;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const auto& convolution = block::template get<"conv">(all[l]);
    const nn::kv_cache& cache = block::template get<"self_attn">(all[l]).cache;
    const float* const of_layer = time.data() + static_cast<extent>(l) * d * taps;
    double worst = 0;
    for (extent i = 0; i < d; ++i)
      for (extent t = 0; t < taps; ++t)
        worst = std::max(worst, std::fabs(static_cast<double>(convolution[static_cast<std::size_t>(t * d + i)]) -
                                          static_cast<double>(of_layer[i * taps + t])));
    EXPECT_LE(worst, 1e-4) << at << " convolution " << l;
    ASSERT_EQ(cache.rows(), valid) << at;
    const auto seen = core::make_view(channel.data() + (static_cast<extent>(l + 1) * kept - valid) * d, valid, d);
    matrix<float, dynamic, dynamic> k(valid, d), v(valid, d);
    const auto& attention = m.encoder.template get<"layers">().layers[l].template get<"self_attn">();
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
          << at;
      EXPECT_LE((values - v.middleCols(h * wide, wide)).cwiseAbs().maxCoeff(),
                1e-4f * std::max(1.0f, v.cwiseAbs().maxCoeff()))
          << at;
    }
  }
}

}  // namespace steno::test
