// steno/models/canary_aligner.hpp - the second model of Canary's archives: times of the words of a known text.
//
//   scores = log_softmax(decoder_layers.0(encoder(features)));  words = best CTC path through the pieces of the words
//
// A FastConformer with CTC that has a front end, a tokenizer and weights of its own (`timestamps_asr_model_*`). Follows
// `get_forced_aligned_timestamps_with_external_model` (timestamp_utils.py), `get_utt_obj` and
// `add_t_start_end_to_utt_obj` (aligner_utils.py) of NeMo: each word is split by itself and lies between the first
// frame of its first piece and the last one of its last; a mark of punctuation at its end takes no time. Tested in
// tests/convert/canary_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/softmax.hpp>
#include <steno/models/nemo_parts.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/search/ctc_alignment.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/nemo_words.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// A FastConformer with CTC. Calls are const: threads may share it.
template <nn::fastconformer_sizes S>
class canary_aligner {
 public:
  canary_aligner() = default;
  /// Front end, tokenizer and settings from `prefix`.*; the weights are bound with the model's. Throws steno::error.
  STENO_COLD canary_aligner(const gguf_file& file, const std::string& prefix)
      : frontend(read_nemo_frontend<dynamic>(file, prefix)), window(read_nemo_window(file, prefix)) {
    tokenizers::sentencepiece_vocabulary v;
    v.pieces = models::read_tokens(file, prefix + ".tokens");
    const auto count = static_cast<extent>(v.pieces.size());
    constexpr float limit = 0x1p100f;
    v.scores = models::read_numbers(file, prefix + ".scores", -limit, limit, count);
    v.types = models::read_wholes(file, prefix + ".token_type", 0, 255, v.pieces.size());
    if (static_cast<extent>(v.types.size()) != count)
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(prefix + ".token_type"),
            .expected = std::to_string(count) + " numbers",
            .found = std::to_string(v.types.size())});
    v.add_dummy_prefix = models::read_flag(file, prefix + ".add_space_prefix", true);
    v.remove_extra_whitespaces = models::read_flag(file, prefix + ".remove_extra_whitespaces", true);
    tokenizer = tokenizers::sentencepiece(std::move(v));
    for (int id = tokenizer.size(); id-- > 0;)
      if (tokenizer.type_of(id) == tokenizers::sentencepiece::unknown) unknown = id;
  }

  nemo_frontend<dynamic> frontend;       ///< samples to features
  nn::fastconformer<S> encoder;          ///< features to rows
  nn::linear<dynamic, dynamic> decoder;  ///< rows to logits, blank last
  nn::attention_window window;           ///< what a row sees
  tokenizers::sentencepiece tokenizer;   ///< words to pieces
  int unknown = 0;                       ///< the piece for a word that has no others

  void members(auto&& v) {
    v("encoder", encoder);
    v("decoder.decoder_layers.0", decoder, core::stored::kernel(1));
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.equal("widths of encoder and decoder", encoder.output_size(), decoder.input_size());
    v.equal("timestamps.tokens and blank, and rows of the decoder", tokenizer.size() + extent{1},
            decoder.output_size());
  }
  /// Seconds from one row to the next.
  double frame_seconds() const noexcept {
    return static_cast<double>(frontend.head.options().shift * encoder.template get<"pre_encode">().rate) / 16000;
  }

  /// The words of a text that 16 kHz mono samples hold, with their rows; `first` is the number of the word. None where
  /// there are more pieces than rows.
  STENO_COLD std::vector<tokenizers::placed_text> align(std::span<const float> pcm, std::string_view text,
                                                        context& c) const {
    std::vector<tokenizers::placed_text> words;
    std::vector<int> ids;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" \t\n\r\f\v", at), text.size());
      if (end > at) {
        const std::string_view word = text.substr(at, end - at);
        const auto pieces = tokenizer.split(word);
        words.push_back({std::string(word), 0, 0, ids.size(), 0});
        if (pieces && !pieces->empty())
          ids.insert(ids.end(), pieces->begin(), pieces->end());
        else
          ids.push_back(unknown);
        words.back().last = ids.size();
      }
      at = end + 1;
    }
    const extent n = encoder.rows(frontend.rows(static_cast<extent>(pcm.size())));
    if (words.empty() || n == 0) return {};
    core::workspace::frame scratch(c.scratch);
    auto scores = scratch.matrix(n, decoder.output_size());
    score(pcm, core::write(scores), c);
    std::vector<search::ctc_token> found;
    if (!search::ctc_alignment(core::read(scores), ids, {.blank = tokenizer.size()}, c.scratch, found)) return {};
    std::size_t number = 0;
    for (tokenizers::placed_text& w : words) {
      w.start = found[w.first].start;
      extent before = w.start;  // where the piece before ends
      for (std::size_t i = w.first; i < w.last; ++i) {
        const std::string_view piece = tokenizer.piece(ids[i]);
        const bool mark = piece == "," || piece == "." || piece == "!" || piece == "?";
        if (!mark) before = found[i].end;
      }
      w.end = before;
      w.first = number++;
      w.last = number;
    }
    return words;
  }
  /// Log-probabilities [rows, pieces + 1] of 16 kHz mono samples.
  void score(std::span<const float> pcm, view<float> y, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.matrix(frontend.rows(static_cast<extent>(pcm.size())), frontend.width());
    frontend(pcm, x, c);
    auto rows = scratch.matrix(y.rows(), encoder.output_size());
    encoder(x, rows, nullptr, nn::fastconformer_env{.window = window}, c);
    decoder.multiply(core::as<const float, dynamic, dynamic>(rows), y, c);
    kernels::log_softmax(core::read(y), y, c.run);
    search::require_numbers(core::read(y), c.run);
  }
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
