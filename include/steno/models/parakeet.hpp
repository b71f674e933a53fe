// steno/models/parakeet.hpp - what the FastConformer models of NeMo share: front end, encoder, tokenizer, windows.
//
//   features = feature_norm(log_mel(pcm))   [T, mels]
//   rows     = encoder(features)                [T / 8, D]
//
// Follows `ASRModule` preprocessing and `ConformerEncoder` as `transcribe()` calls them; heads are parakeet_ctc.hpp and
// parakeet_transducer.hpp. What is kept and what differs: docs/models/parakeet.md. Tested in
// tests/parity/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/nemo_parts.hpp>
#include <steno/models/nemo_prompts.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/tokenizers/nemo_words.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// What a call of encode() may choose.
struct parakeet_encoding {
  std::optional<nn::attention_window> window = {};  ///< what a row sees; nothing: the model's own
  int prompt = -1;  ///< number of the prompt, for models with prompts; -1: the usual one
};

/// The FastConformer models of NeMo without their heads; a base class, whose `Kind` names the architecture. A
/// loaded model is const and may be shared by threads, each with its own context.
template <class Encoder, class Frontend, class Kind>
class parakeet {
 public:
  static constexpr std::string_view architecture = Kind::architecture;  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/parakeet.hpp";
  static constexpr int sample_rate = 16000;  ///< Hz of the mono samples that it takes
  using encoder_type = Encoder;              ///< features to rows

  parakeet() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit parakeet(const gguf_file& file)
      : frontend(read_nemo_frontend<Frontend::output>(file, architecture)),
        tokenizer(models::read_sentencepiece(file)) {
    windows = read_nemo_windows(file, architecture);
    window = windows.front();
    stream_windows = read_nemo_stream_windows(file, architecture);
    for (int id = 0; id < tokenizer.size(); ++id) {
      if (tokenizer.piece(id) == "<EOU>") end_of_turn = id;
      if (tokenizer.piece(id) == "<EOB>") end_of_backchannel = id;
    }
    pad_value = static_cast<float>(
        models::read_number(file, std::string(architecture) + ".frontend.pad_value", -0x1p16, 0x1p16, 0));
  }

  Frontend frontend;            ///< samples to features
  Encoder encoder;              ///< features to rows, one for each frame_seconds()
  nn::attention_window window;  ///< of whole clips
  std::vector<nn::attention_window>
      windows;                          ///< that it was trained with, `window` first; no two look equally far ahead
  nemo_stream_windows stream_windows;   ///< of models that were trained to look behind each chunk of a stream
  tokenizers::sentencepiece tokenizer;  ///< ids to text
  int end_of_turn = -1;                 ///< the label <EOU>; -1: the model has none
  int end_of_backchannel = -1;          ///< the label <EOB>; -1: the model has none
  float pad_value = 0;                  ///< of the frame behind a clip, which traces show
  models::model_storage storage;        ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
  }
  /// Codes of languages that can be chosen: none.
  static std::vector<std::string> languages() { return {}; }

  /// Whether a label says that somebody has ended, and is no part of a text. The original writes both into its texts.
  bool ends_turn(int id) const noexcept { return id == end_of_turn || id == end_of_backchannel; }

  /// The blank label: it follows all pieces.
  int blank() const noexcept { return tokenizer.size(); }
  /// Encoder rows of `count` samples.
  extent frames(extent count) const noexcept { return encoder.rows(frontend.rows(count)); }
  /// Samples from one encoder row to the next.
  extent samples_per_row() const noexcept {
    return frontend.head.options().shift * encoder.template get<"pre_encode">().rate;
  }
  /// Seconds from one encoder row to the next.
  double frame_seconds() const noexcept { return static_cast<double>(samples_per_row()) / sample_rate; }

  /// The window of those that the model was trained with in which a row looks so many rows ahead; nothing: `window`.
  /// Throws steno::error where there is none.
  STENO_COLD nn::attention_window window_for(std::optional<int> look_ahead) const {
    if (!look_ahead) return window;
    std::string known;
    for (const nn::attention_window& w : windows) {
      if (look_ahead_of(w) == *look_ahead) return w;
      known.append(known.empty() ? "" : ", ").append(std::to_string(look_ahead_of(w)));
    }
    fail({.what = "look-ahead",
          .expected = "one that the model was trained with, in rows of 80 ms: " + known,
          .found = std::to_string(*look_ahead)});
  }

  /// 16 kHz mono samples in [-1, 1] -> encoder rows [frames(number of samples), D].
  void encode(std::span<const float> pcm, view<float, dynamic, Encoder::output> y, context& c,
              const parakeet_encoding& how = {}) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Encoder::input>(frontend.rows(static_cast<extent>(pcm.size())),
                                                              frontend.width());
    frontend(pcm, x, c);
    if (c.tracing()) show(core::read(x), c);
    auto s = c.enter("encoder");
    encoder(x, y, nullptr, nn::fastconformer_env{.window = how.window.value_or(window)}, c);
  }

  /// The frames of CTC's tokens as the original gives them: from the frame of the token before to its own first frame;
  /// a punctuation mark ends where it starts.
  STENO_COLD std::vector<tokenizers::placed_token> place_ctc(const tokenizers::nemo_words& words,
                                                             std::span<const steno::search::ctc_token> tokens) const {
    std::vector<tokenizers::placed_token> all;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const extent start = i > 0 ? tokens[i - 1].start : std::max<extent>(0, tokens[i].start - 1);
      all.push_back({tokens[i].id, start, tokens[i].start});
      if (i > 0 && words.begins_with_mark(tokenizer.decode(std::span(&tokens[i].id, 1)))) all.back().end = start;
    }
    return all;
  }

  /// Words as a reader needs them: none begins before the one before it has ended. Those that share a frame, at which
  /// an RNN-T may say several labels, share its time in equal parts.
  STENO_COLD static void part_words(std::vector<word>& words) {
    for (std::size_t i = 0, next = 0; i < words.size(); i = next) {
      const double start = words[i].start;
      double end = words[i].end;
      for (next = i + 1; next < words.size() && words[next].start <= start && end > start; ++next)
        end = std::max(end, words[next].end);
      if (next < words.size()) end = std::min(end, std::max(start, words[next].start));
      const double each = (end - start) / static_cast<double>(next - i);
      for (std::size_t k = i; k < next; ++k) {
        words[k].start = start + static_cast<double>(k - i) * each;
        words[k].end = k + 1 < next ? start + static_cast<double>(k + 1 - i) * each : end;
      }
    }
  }

  /// Text, words and language of `s` from tokens with frames and log-probabilities. Empty words are left out; the
  /// language is what the last label that names one says.
  STENO_COLD void write_text(const tokenizers::nemo_words& words, std::span<const tokenizers::placed_token> tokens,
                             std::span<const float> log_probabilities, segment& s) const {
    s.text = words.text(tokenizer, s.token_ids);
    for (const int id : s.token_ids)
      if (const std::string_view language = language_of_tag(tokenizer.piece(id)); !language.empty())
        s.language = language;
    for (tokenizers::placed_text& w : words.words(tokenizer, tokens)) {
      if (w.text.empty()) continue;
      double sum = 0;
      for (std::size_t i = w.first; i < w.last; ++i) sum += static_cast<double>(log_probabilities[i]);
      s.words.push_back({.text = std::move(w.text),
                         .start = static_cast<double>(w.start) * frame_seconds(),
                         .end = static_cast<double>(w.end) * frame_seconds(),
                         .confidence = static_cast<float>(std::exp(sum / static_cast<double>(w.last - w.first))),
                         .how = timing::native});
    }
  }

 private:
  // As the original has it: [mels, frames], with the frame it declares invalid and sets to its pad_value; and as
  // transformers has it: [frames, mels], with zeros there.
  void show(const auto& x, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto turned = scratch.matrix(x.cols(), x.rows() + 1);
    turned.leftCols(x.rows()) = x.transpose();
    turned.col(x.rows()).setConstant(pad_value);
    c.trace("logmel", turned);
    auto rows = scratch.matrix(x.rows() + 1, x.cols());
    rows.topRows(x.rows()) = x;
    rows.row(x.rows()).setZero();
    c.trace("input_features", rows);
  }
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
