// steno/models/ct_punc_parts.hpp - what both forms of CT-Transformer have in common: words, marks and one pass.
//
//   x = embed[ids];  scores = decoder(encoder(x))  [words, marks];  a word's mark is the best of its row
//
// ct_punc.hpp is the form for whole texts, ct_punc_realtime.hpp that for streams. Follows `CTTransformer`
// (funasr/models/ct_transformer/model.py). Tested in tests/parity/ct_punc_test.cpp and ct_punc_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/punctuated_words.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// A text with punctuation, and the number of the mark behind each of its words: its place in `marks` of the model.
struct punctuated_text {
  std::string text;        ///< the words with their marks
  std::vector<int> marks;  ///< one for each word; for a Chinese word of several characters one for each of these
};

/// Sizes by name; what is left out is adopted from the file.
struct ct_punc_sizes {
  nn::sanm_sizes encoder = {};  ///< its features are the rows of `embed`, as wide as its layers
  extent vocabulary = dynamic;  ///< words in all
  extent marks = dynamic;       ///< with "_", which is none
};

/// Words, marks and network. `Architecture` is `general.architecture` of its files and stands before their keys.
template <ct_punc_sizes S, class Encoder, core::fixed_string Architecture>
class ct_transformer {
  static constexpr extent D = S.encoder.width, Vocab = S.vocabulary, Marks = S.marks;
  static_assert(S.encoder.features == D, "the rows of `embed` are as wide as the encoder's layers");

 public:
  static constexpr ct_punc_sizes sizes = S;                              ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = Architecture.view();  ///< `general.architecture` of its files

  ct_transformer() = default;
  /// Words and marks from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit ct_transformer(const gguf_file& file)
      : words(models::read_tokens(file)), marks(file.strings(key("marks"))) {
    order_.resize(words.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i);
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return word(a) != word(b) ? word(a) < word(b) : a < b; });
    unknown_ = find("<unk>");
    if (unknown_ < 0) fail({.where = file.where(), .what = "tokenizer.ggml.tokens", .expected = "a token <unk>"});
    sentence_end =
        static_cast<int>(models::read_whole(file, key("sentence_end"), 0, static_cast<extent>(marks.size()) - 1, 3));
  }

  weights::weight<Vocab, D, dtype::f32, weights::use::rows> embed;  ///< a row for each of `words`
  Encoder encoder;                                                  ///< SAN-M, over the rows of the words
  nn::linear<D, Marks> decoder;                                     ///< its rows to scores of the marks
  std::vector<std::string> words;                                   ///< that the model knows
  std::vector<std::string> marks;                                   ///< "_" is none
  int sentence_end = 3;                                             ///< number of the full stop
  models::model_storage storage;                                    ///< what the weights point into

  void members(auto&& v) {
    v("embed.weight", embed);
    v("encoder", encoder);
    v("decoder", decoder);
    v.equal("widths of embed and encoder", embed.cols(), encoder.input_size());
    v.equal("encoder.output_size and width of the encoder", nn::sanm_width(encoder), encoder.output_size());
    v.equal("widths of encoder and decoder", encoder.output_size(), decoder.input_size());
    v.equal("number of tokenizer.ggml.tokens and rows of embed",
            words.empty() ? embed.rows() : static_cast<extent>(words.size()), embed.rows());
    const std::string numbers = "number of " + key("marks") + " and rows of decoder";
    v.equal(numbers, marks.empty() ? decoder.output_size() : static_cast<extent>(marks.size()), decoder.output_size());
  }

 protected:
  /// A setting's whole key in the file.
  static std::string key(std::string_view name) { return std::string(architecture).append(".").append(name); }

  /// The numbers of words; unknown ones are <unk>.
  STENO_COLD std::vector<int> ids_of(std::span<const std::string> text) const {
    std::vector<int> ids;
    for (const std::string& w : text) {
      const int id = find(w);
      ids.push_back(id < 0 ? unknown_ : id);
    }
    return ids;
  }
  /// One pass: the mark behind each word.
  std::vector<int> score(std::span<const int> ids, const auto& env, context& c) const {
    const auto n = static_cast<extent>(ids.size());
    const extent d = embed.cols();
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, D>(n, d);
    auto y = scratch.template matrix<dynamic, D>(n, d);
    for (extent t = 0; t < n; ++t)
      std::copy_n(embed.floats() + ids[static_cast<std::size_t>(t)] * d, d, x.data() + t * d);
    c.trace("embed", x);
    {
      auto scope = c.enter("encoder");
      encoder(core::as<const float, dynamic, D>(x), y, nullptr, env, c);
    }
    auto scores = scratch.template matrix<dynamic, Marks>(n, decoder.output_size());
    decoder.multiply(core::as<const float, dynamic, D>(y), scores, c);
    search::require_finite(core::read(scores), c.run);
    c.trace("logits", scores);
    std::vector<int> found(ids.size());
    for (extent t = 0; t < n; ++t)
      found[static_cast<std::size_t>(t)] = search::best_label(scores.data() + t * scores.outerStride(), scores.cols());
    return found;
  }
  /// How many of a pass's words make whole sentences; in a very long one a comma becomes its end.
  std::size_t sentence(std::vector<int>& found) const {
    constexpr std::size_t longest = 200;
    if (const std::size_t whole = whole_sentences(found); whole > 0) return whole;
    if (found.size() <= longest) return 0;
    for (std::size_t i = found.size() - 1; i-- > 2;)
      if (mark(found[i]) == tokenizers::detail::comma) {
        found[i] = sentence_end;
        return i + 1;
      }
    return 0;
  }
  /// Words up to the last full stop or question mark that is not behind the last one, nor behind the first two.
  std::size_t whole_sentences(std::span<const int> found) const {
    for (std::size_t i = found.size(); i-- > 2;)
      if (i + 1 < found.size() && tokenizers::detail::ends_sentence(mark(found[i]))) return i + 1;
    return 0;
  }
  /// The mark of this number, from 0.
  std::string_view mark(int number) const noexcept { return marks[static_cast<std::size_t>(number)]; }

 private:
  std::string_view word(int id) const noexcept { return words[static_cast<std::size_t>(id)]; }
  int find(std::string_view w) const noexcept {
    const auto at = std::lower_bound(order_.begin(), order_.end(), w,
                                     [&](int id, std::string_view value) { return word(id) < value; });
    return at != order_.end() && word(*at) == w ? *at : -1;
  }

  std::vector<int> order_;  // ids in the order of their words
  int unknown_ = 0;
};

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
