// steno/models/ct_punc_realtime.hpp - CT-Transformer for streams: punctuation for a text that comes piece by piece.
//
// A piece is punctuated behind the words since the last sentence's end, which the stream's cache keeps: what was
// written stays, and the mark behind the last word of the piece before stands at the beginning of the next text. The
// mark at the end of a piece is left out. Follows `CTTransformerStreaming.inference`
// (funasr/models/ct_transformer_streaming/model.py); see docs/models/ct_punc.md. Tested in
// tests/models/ct_punc_realtime_test.cpp and tests/parity/ct_punc_realtime_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/ct_punc_parts.hpp>
#include <steno/networks/sanm_vad_encoder.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// CT-Transformer for streams. A loaded model is const and may be shared by threads and streams, each with its own
/// context and cache.
template <ct_punc_sizes S>
class ct_punc_realtime : public ct_transformer<S, nn::sanm_vad_encoder<S.encoder>, "ct_transformer_streaming"> {
  using base = ct_transformer<S, nn::sanm_vad_encoder<S.encoder>, "ct_transformer_streaming">;

 public:
  using base::base;

  /// What a stream keeps between its pieces. Without a sentence's end it grows with the text.
  struct cache {
    std::vector<std::string> words = {};  ///< since the last sentence's end, with spaces in front of ASCII ones
  };

  /// The piece with punctuation, behind what `before` holds, which becomes what the next piece needs. The marks are
  /// those of the last pass, as the original gives them. A piece without words has no text and changes nothing.
  /// `at_once`: words added for one pass of the model.
  STENO_COLD punctuated_text punctuate(std::string_view piece, cache& before, context& c, extent at_once = 20) const {
    punctuated_text out;
    if (tokenizers::split_words(piece).empty()) return out;
    std::string text;
    for (const std::string& w : before.words) text += w;
    std::vector<std::string> all = tokenizers::split_words(text.append(" ").append(piece));
    const std::size_t kept = before.words.size();
    const std::vector<int> ids = base::ids_of(all);
    const std::size_t step = static_cast<std::size_t>(std::max<extent>(at_once, 2));
    std::vector<int> found;
    for (std::size_t begin = 0, pass = 0; begin < all.size(); begin += step, ++pass) {
      auto scope = c.enter("mini", static_cast<extent>(pass));
      const bool last = begin + step >= all.size();
      const auto part = std::span(ids).subspan(found.size(), std::min(begin + step, all.size()) - found.size());
      out.marks = base::score(part, nn::sanm_vad_record{static_cast<extent>(kept)}, c);
      if (!last) out.marks.resize(base::sentence(out.marks));
      found.insert(found.end(), out.marks.begin(), out.marks.end());
    }
    tokenizers::space_ascii_words(all);
    out.text = written(all, found, kept);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(base::whole_sentences(found)));
    before.words = std::move(all);
    return out;
  }

 private:
  // From the mark behind the last word of `kept` on. At the end a character that is a mark is left out, even where it
  // is a word's own.
  std::string written(std::span<const std::string> all, std::span<const int> found, std::size_t kept) const {
    std::string text;
    for (std::size_t i = kept == 0 ? 0 : kept - 1; i < all.size(); ++i) {
      if (i >= kept) text += all[i];
      if (const std::string_view m = base::mark(found[i]); m != tokenizers::detail::no_mark) text += m;
    }
    std::size_t last = text.size();
    while (last > 0 && (static_cast<unsigned char>(text[--last]) & 0xc0u) == 0x80u) {
    }
    if (std::find(base::marks.begin(), base::marks.end(), std::string_view(text).substr(last)) != base::marks.end())
      text.resize(last);
    return text;
  }
};

/// The published one (iic/punc_ct-transformer_zh-cn-common-vad_realtime-vocab272727): every extent static.
using ct_punc_realtime_zh = ct_punc_realtime<ct_punc_sizes{
    .encoder = {.features = 256, .width = 256, .heads = 8, .units = 1024, .taps = 11, .blocks = 2},
    .vocabulary = 272727,
    .marks = 6}>;
/// Any sizes: extents are adopted from the file.
using ct_punc_realtime_any = ct_punc_realtime<ct_punc_sizes{}>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
