// steno/models/ct_punc.hpp - CT-Transformer: punctuation for text that has none.
//
//   x = embed[ids];  scores = decoder(encoder(x))  [words, marks];  a word's mark is the best of its row
//
// Words are taken 20 at a time; what follows the last full stop or question mark is taken again with the next ones
// (from the last word but one down to the third), and after 200 words without one a comma ends the sentence. Follows
// `CTTransformer.inference` (funasr/models/ct_transformer/model.py); see docs/models/ct_punc.md. Tested in
// tests/models/ct_punc_test.cpp and tests/parity/ct_punc_test.cpp (golden stages).
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

/// A text with punctuation, and the number of the mark behind each word of split_words().
struct punctuated_text {
  std::string text;        ///< the words with their marks
  std::vector<int> marks;  ///< one for each word: its place in ct_punc::marks
};

/// Sizes by name; what is left out is adopted from the file.
struct ct_punc_sizes {
  nn::sanm_sizes encoder = {};  ///< its features are the rows of `embed`, as wide as its layers
  extent vocabulary = dynamic;  ///< words in all
  extent marks = dynamic;       ///< with "_", which is none
};

/// CT-Transformer: the mark behind each word of a text. A loaded model is const and may be shared by threads, each with
/// its own context.
template <ct_punc_sizes S>
class ct_punc {
  static constexpr extent D = S.encoder.width, Vocab = S.vocabulary, Marks = S.marks;
  static_assert(S.encoder.features == D, "the rows of `embed` are as wide as the encoder's layers");

 public:
  static constexpr ct_punc_sizes sizes = S;                           ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "ct_transformer";  ///< `general.architecture` of its files

  ct_punc() = default;
  /// Words and marks from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit ct_punc(const gguf_file& file)
      : words(models::read_tokens(file)), marks(file.strings("ct_transformer.marks")) {
    order_.resize(words.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) { return word(a) < word(b); });
    unknown_ = find("<unk>");
    if (unknown_ < 0) fail({.where = file.where(), .what = "tokenizer.ggml.tokens", .expected = "a token <unk>"});
    sentence_end = static_cast<int>(
        models::read_whole(file, "ct_transformer.sentence_end", 0, static_cast<extent>(marks.size()) - 1, 3));
  }

  weights::weight<Vocab, D, dtype::f32, weights::use::rows> embed;  ///< a row for each of `words`
  nn::sanm_main_encoder<S.encoder> encoder;                         ///< SAN-M, over the rows of the words
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
    v.equal("number of ct_transformer.marks and rows of decoder",
            marks.empty() ? decoder.output_size() : static_cast<extent>(marks.size()), decoder.output_size());
  }

  /// The text with punctuation. `at_once`: words added for one pass of the model (split_size of the original).
  STENO_COLD punctuated_text punctuate(std::string_view text, context& c, extent at_once = 20) const {
    const std::vector<std::string> all = tokenizers::split_words(text);
    std::vector<int> ids;
    for (const std::string& w : all) {
      const int id = find(w);
      ids.push_back(id < 0 ? unknown_ : id);
    }
    punctuated_text out;
    const std::size_t step = static_cast<std::size_t>(std::max<extent>(at_once, 2));
    std::size_t from = 0;  // of the words that have no final mark yet
    for (std::size_t begin = 0, pass = 0; begin < all.size(); begin += step, ++pass) {
      auto scope = c.enter("mini", static_cast<extent>(pass));
      const bool last = begin + step >= all.size();
      std::vector<int> found = score(std::span(ids).subspan(from, std::min(begin + step, all.size()) - from), c);
      if (!last) found.resize(sentence(found));
      out.text += tokenizers::join_punctuated(std::span(all).subspan(from, found.size()), found, marks);
      out.marks.insert(out.marks.end(), found.begin(), found.end());
      from += found.size();
    }
    if (tokenizers::close_text(out.text)) out.marks.back() = sentence_end;
    return out;
  }

 private:
  std::string_view word(int id) const noexcept { return words[static_cast<std::size_t>(id)]; }
  int find(std::string_view w) const noexcept {
    const auto at = std::lower_bound(order_.begin(), order_.end(), w,
                                     [&](int id, std::string_view value) { return word(id) < value; });
    return at != order_.end() && word(*at) == w ? *at : -1;
  }

  std::vector<int> score(std::span<const int> ids, context& c) const {
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
      encoder(core::as<const float, dynamic, D>(x), y, nullptr, nn::no_env{}, c);
    }
    auto scores = scratch.template matrix<dynamic, Marks>(n, decoder.output_size());
    decoder.multiply(core::as<const float, dynamic, D>(y), scores, c);
    search::require_finite(core::read(scores));
    c.trace("logits", scores);
    std::vector<int> found(ids.size());
    for (extent t = 0; t < n; ++t)
      found[static_cast<std::size_t>(t)] = search::best_label(scores.data() + t * scores.outerStride(), scores.cols());
    return found;
  }

  /// How many of the words make whole sentences; in a very long one a comma becomes its end.
  std::size_t sentence(std::vector<int>& found) const {
    constexpr std::size_t longest = 200;
    std::size_t comma = 0;
    for (std::size_t i = found.size(); i-- > 2;) {
      if (i + 1 == found.size()) continue;
      const std::string_view m = marks[static_cast<std::size_t>(found[i])];
      if (tokenizers::detail::ends_sentence(m)) return i + 1;
      if (comma == 0 && m == tokenizers::detail::comma) comma = i;
    }
    if (found.size() <= longest || comma == 0) return 0;
    found[comma] = sentence_end;
    return comma + 1;
  }

  std::vector<int> order_;  // ids in the order of their words
  int unknown_ = 0;
};

/// The published ct-punc (Chinese and English, 272727 words): every extent static.
using ct_punc_zh = ct_punc<ct_punc_sizes{
    .encoder = {.features = 256, .width = 256, .heads = 8, .units = 1024, .taps = 11, .blocks = 3},
    .vocabulary = 272727,
    .marks = 6}>;
/// Any sizes: extents are adopted from the file.
using ct_punc_any = ct_punc<ct_punc_sizes{}>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
