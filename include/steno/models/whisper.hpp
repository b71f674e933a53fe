// steno/models/whisper.hpp - Whisper: 30 s windows of log-mel frames, an encoder, and a decoder that writes tokens.
//
//   features = log_mel(pcm)                 [3000, 80 or 128]
//   encoded  = encoder(features)            [1500, D]
//   kept     = keys and values of encoded, once for a window
//   logits   = decoder(tokens, kept)        [tokens, vocabulary]
//
// Follows whisper/model.py of openai/whisper; see docs/models/whisper.md. Tested in tests/models/whisper_test.cpp and
// tests/parity/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/log_mel.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/whisper_generation.hpp>
#include <steno/models/whisper_result.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/models/whisper_window.hpp>
#include <steno/networks/whisper_decoder.hpp>
#include <steno/networks/whisper_encoder.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// Sizes by name (the original's `ModelDimensions`); what is left out is adopted from the file.
struct whisper_sizes {
  extent mels = dynamic;          ///< bands of the features
  extent width = dynamic;         ///< of encoder and decoder
  extent heads = dynamic;         ///< of all attentions
  extent audio_layers = dynamic;  ///< of the encoder
  extent text_layers = dynamic;   ///< of the decoder
  extent vocabulary = dynamic;    ///< tokens in all
};

/// Whisper: an encoder of 30 s windows, and a decoder that writes tokens. A loaded model is const and may be shared by
/// threads, each with its own context and window.
template <whisper_sizes S>
class whisper_model {
  static constexpr extent Mels = S.mels, D = S.width, Vocab = S.vocabulary;

 public:
  static constexpr whisper_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "whisper";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/whisper.hpp";
  static constexpr int sample_rate = 16000;  ///< Hz of the mono samples that it takes
  /// What a token of a hotword should earn in the decoder's search: less than with CTC, since the decoder goes on with
  /// a word by itself (docs/models/whisper.md has the figures).
  static constexpr float hotword_score = 2;
  using options = whisper_transcribe_options;  ///< of one call of recognise()

  whisper_model() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit whisper_model(const gguf_file& file)
      : frontend(models::read_whole(file, "whisper.frontend.n_mels", 1, 1024, 80)),
        tokenizer(models::made_of(file, "tokenizer.ggml.tokens",
                                  [&] {
                                    return tokenizers::whisper_tokens(models::stored_tokens(file), vocabulary_of(file),
                                                                      multilingual_of(file));
                                  })),
        generation(read_whisper_generation(file, tokenizer)) {
    if (!file.has("whisper.alignment_heads")) return;
    const std::vector<int> flat = models::read_wholes(file, "whisper.alignment_heads", 0, 65535, 65536);
    if (flat.size() % 2 != 0)
      fail({.where = file.where(),
            .what = "key \"whisper.alignment_heads\"",
            .expected = "pairs of layer and head",
            .found = std::to_string(flat.size()) + " numbers"});
    for (std::size_t i = 0; i < flat.size(); i += 2) alignment_heads.emplace_back(flat[i], flat[i + 1]);
  }

  frontends::log_mel<Mels> frontend;                                      ///< samples to features
  nn::whisper_encoder<S.mels, S.width, S.heads, S.audio_layers> encoder;  ///< features to rows, one for two frames
  nn::whisper_decoder<S.width, S.heads, S.vocabulary, S.text_layers>
      decoder;                           ///< tokens, reading encoder rows, to logits
  tokenizers::whisper_tokens tokenizer;  ///< text to ids and back
  whisper_generation generation;         ///< where the file differs from openai's rules
  /// Layer and head of each that gives words their times; empty: all in the upper half of the layers.
  std::vector<std::pair<int, int>> alignment_heads;
  models::model_storage storage;  ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v("decoder", decoder);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.within("rows of decoder.positional_embedding", decoder.context_size(), 16, 1 << 20);  // a prompt and a text
    v.equal("widths of encoder and decoder", encoder.output_size(), decoder.width());
    v.equal("whisper.alignment_heads and those that the decoder has", static_cast<extent>(alignment_heads.size()),
            known_heads());
    v.equal("number of tokenizer.ggml.tokens and rows of decoder.token_embedding",
            tokenizer.eot == 0 ? decoder.vocabulary() : vocabulary(), decoder.vocabulary());
  }

  /// Tokens in all.
  extent vocabulary() const noexcept { return tokenizer.timestamp_begin + tokenizers::whisper_tokens::timestamps; }
  /// Codes of the languages it knows.
  STENO_COLD std::vector<std::string> languages() const {
    if (!tokenizer.multilingual) return {"en"};
    std::vector<std::string> codes;
    for (int i = 0; i < tokenizer.languages; ++i)
      if (generation.knows(i)) codes.emplace_back(tokenizer.code(i));
    return codes;
  }
  /// Whether `text` is a code or a name of one of these.
  STENO_COLD bool supports_language(std::string_view text) const {
    const int n = tokenizer.find_language(text);
    return tokenizer.multilingual ? n >= 0 && generation.knows(n) : n == 0;
  }
  /// Encoder rows of a window: 1500; it has twice as many frames.
  extent window_rows() const noexcept { return encoder.template get<"positional_embedding">().table.rows(); }
  /// Frames of a window, 10 ms each: 3000.
  extent window_frames() const noexcept { return 2 * window_rows(); }

  /// Features of a window [3000, Mels] to what the decoder reads of it.
  void encode(view<const float, dynamic, Mels> features, whisper_window& w, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto encoded = scratch.template matrix<dynamic, D>(features.rows() / 2, encoder.output_size());
    {
      auto scope = c.enter("encoder");
      encoder(features, encoded, nullptr, nn::no_env{}, c);
    }
    auto scope = c.enter("decoder");
    decoder.keep_encoded(core::as<const float, dynamic, D>(encoded), w.encoded, c);
  }

  /// Frames of a recording (frontends/log_mel.hpp), with sizes known at run time.
  void features_of(const frontends::part_of_recording& pcm, extent first, float top, view<float> y, context& c) const {
    frontend(pcm, first, top, core::as<float, dynamic, Mels>(y), c);
  }
  /// encode() with sizes known at run time.
  void encode_rows(const view<const float>& features, whisper_window& w, context& c) const {
    encode(core::as<const float, dynamic, Mels>(features), w, c);
  }
  /// Tokens at once to rows [tokens, width], with sizes known at run time (networks/whisper_decoder.hpp).
  void prompt_rows(std::span<const int> ids, whisper_window& w, view<float> rows, context& c,
                   const nn::cross_attention_scores& seen = {}) const {
    auto scope = c.enter("decoder");
    decoder.prompt(ids, w.encoded, w.text, core::as<float, dynamic, D>(rows), c,
                   seen.scores != nullptr ? &seen : nullptr);
  }
  /// The next token of each beam to rows [beams, width], with sizes known at run time.
  void step_rows(std::span<const int> ids, whisper_window& w, view<float> rows, context& c) const {
    auto scope = c.enter("decoder");
    decoder.step(ids, w.encoded, w.text, core::as<float, dynamic, D>(rows), c);
  }
  /// Rows of these to logits y [rows, vocabulary] of what follows. Throws steno::error when one is no finite number.
  void logits_of(const view<const float>& rows, view<float> y, context& c) const {
    auto scope = c.enter("decoder");
    decoder.logits(core::as<const float, dynamic, D>(rows), core::as<float, dynamic, Vocab>(y), c);
    search::require_finite(core::read(y), c.run);
  }

  /// A clip of any length, window by window, its segments as one. Throws steno::error for options that contradict each
  /// other.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

 private:
  extent known_heads() const {
    extent n = 0;
    for (const auto& [layer, head] : alignment_heads)
      if (layer < decoder.blocks().size() && head < decoder.cross_heads(layer)) ++n;
    return n;
  }
  STENO_COLD static extent vocabulary_of(const gguf_file& file) {
    const auto t = file.find("decoder.token_embedding.weight");
    return t ? t->rows() : 0;
  }
  STENO_COLD static std::optional<bool> multilingual_of(const gguf_file& file) {
    if (!file.has("whisper.multilingual")) return std::nullopt;
    return models::read_flag(file, "whisper.multilingual", true);
  }
};

template <whisper_sizes S>
segment whisper_model<S>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  return whisper_recognise(*this, pcm, o, c);
}

/// The published sizes: 80 mel bands and 51865 tokens, or 51864 for English alone. This is the smallest.
using whisper_tiny = whisper_model<whisper_sizes{
    .mels = 80, .width = 384, .heads = 6, .audio_layers = 4, .text_layers = 4, .vocabulary = 51865}>;
/// Whisper base, multilingual.
using whisper_base = whisper_model<whisper_sizes{
    .mels = 80, .width = 512, .heads = 8, .audio_layers = 6, .text_layers = 6, .vocabulary = 51865}>;
/// Whisper small, multilingual.
using whisper_small = whisper_model<whisper_sizes{
    .mels = 80, .width = 768, .heads = 12, .audio_layers = 12, .text_layers = 12, .vocabulary = 51865}>;
/// Whisper medium, multilingual.
using whisper_medium = whisper_model<whisper_sizes{
    .mels = 80, .width = 1024, .heads = 16, .audio_layers = 24, .text_layers = 24, .vocabulary = 51865}>;
/// Whisper large-v1 and large-v2.
using whisper_large = whisper_model<whisper_sizes{
    .mels = 80, .width = 1280, .heads = 20, .audio_layers = 32, .text_layers = 32, .vocabulary = 51865}>;
/// Whisper tiny for English.
using whisper_tiny_en = whisper_model<whisper_sizes{
    .mels = 80, .width = 384, .heads = 6, .audio_layers = 4, .text_layers = 4, .vocabulary = 51864}>;
/// Whisper base for English.
using whisper_base_en = whisper_model<whisper_sizes{
    .mels = 80, .width = 512, .heads = 8, .audio_layers = 6, .text_layers = 6, .vocabulary = 51864}>;
/// Whisper small for English.
using whisper_small_en = whisper_model<whisper_sizes{
    .mels = 80, .width = 768, .heads = 12, .audio_layers = 12, .text_layers = 12, .vocabulary = 51864}>;
/// Whisper medium for English.
using whisper_medium_en = whisper_model<whisper_sizes{
    .mels = 80, .width = 1024, .heads = 16, .audio_layers = 24, .text_layers = 24, .vocabulary = 51864}>;
/// Whisper large-v3: 128 mel bands, 51866 tokens.
using whisper_large_v3 = whisper_model<whisper_sizes{
    .mels = 128, .width = 1280, .heads = 20, .audio_layers = 32, .text_layers = 32, .vocabulary = 51866}>;
/// Whisper large-v3-turbo: the same with four decoder layers.
using whisper_large_v3_turbo = whisper_model<whisper_sizes{
    .mels = 128, .width = 1280, .heads = 20, .audio_layers = 32, .text_layers = 4, .vocabulary = 51866}>;
/// Any size, adopted from the file.
using whisper_any = whisper_model<whisper_sizes{}>;

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
