// steno/models/ct_punc.hpp - CT-Transformer: punctuation for text that has none.
//
//   x = embed[ids];  scores = decoder(encoder(x))  [words, marks];  a word's mark is the best of its row
//
// Words are taken 20 at a time; what follows the last full stop or question mark is taken again with the next ones
// (from the last word but one down to the third), and after 200 words without one a comma ends the sentence. Words are
// characters and what stands between spaces, or those of the file's dictionary. Follows `CTTransformer.inference`
// (funasr/models/ct_transformer/model.py); see docs/models/ct_punc.md. Tested in tests/models/ct_punc_test.cpp and
// tests/parity/ct_punc_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/ct_punc_parts.hpp>
#include <steno/tokenizers/word_dictionary.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// The dictionary under `key`.words, .frequencies and .total. Throws steno::error.
STENO_ON_CALL STENO_COLD inline tokenizers::word_dictionary read_word_dictionary(const gguf_file& file,
                                                                                 const std::string& key) {
  using tokenizers::word_dictionary;
  const std::string list = key + ".words", counts = key + ".frequencies";
  const weights::gguf_value* const given = file.value(list);
  if (given != nullptr && given->count > word_dictionary::max_words)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(list),
          .expected = "up to " + std::to_string(word_dictionary::max_words) + " words",
          .found = std::to_string(given->count)});
  const std::vector<std::string> words = file.strings(list);
  const std::vector<int> frequencies =
      read_wholes(file, counts, 0, word_dictionary::max_frequency, word_dictionary::max_words);
  if (words.size() != frequencies.size())
    fail({.where = file.where(),
          .what = "keys " + list + " and " + counts,
          .expected = "equal lengths",
          .found = std::to_string(words.size()) + " and " + std::to_string(frequencies.size())});
  return made_of(file, list, [&] {
    word_dictionary d;
    d.total = read_number(file, key + ".total", 1, word_dictionary::max_total, 1);
    for (std::size_t i = 0; i < words.size(); ++i) d.set(words[i], static_cast<std::uint32_t>(frequencies[i]));
    return d;
  });
}

}  // namespace models

namespace funasr {

/// CT-Transformer: the mark behind each word of a text. A loaded model is const and may be shared by threads, each with
/// its own context.
template <ct_punc_sizes S>
class ct_punc : public ct_transformer<S, nn::sanm_main_encoder<S.encoder>, "ct_transformer"> {
  using base = ct_transformer<S, nn::sanm_main_encoder<S.encoder>, "ct_transformer">;

 public:
  ct_punc() = default;
  /// Words, marks and a dictionary from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit ct_punc(const gguf_file& file) : base(file) {
    if (file.has(base::key("dictionary.words")))
      dictionary = models::read_word_dictionary(file, base::key("dictionary"));
  }

  tokenizers::word_dictionary dictionary;  ///< of the words that texts are cut into; empty: characters

  /// The text with punctuation. `at_once`: words added for one pass of the model (split_size of the original).
  STENO_COLD punctuated_text punctuate(std::string_view text, context& c, extent at_once = 20) const {
    const std::vector<std::string> all = split(text);
    const std::vector<int> ids = base::ids_of(all);
    punctuated_text out;
    const std::size_t step = static_cast<std::size_t>(std::max<extent>(at_once, 2));
    std::size_t from = 0;  // of the words that have no final mark yet
    for (std::size_t begin = 0, pass = 0; begin < all.size(); begin += step, ++pass) {
      auto scope = c.enter("mini", static_cast<extent>(pass));
      const bool last = begin + step >= all.size();
      std::vector<int> found =
          base::score(std::span(ids).subspan(from, std::min(begin + step, all.size()) - from), nn::no_env{}, c);
      if (!last) found.resize(base::sentence(found));
      const auto part = std::span(all).subspan(from, found.size());
      out.text += tokenizers::join_punctuated(part, found, base::marks);
      add_marks(part, found, out.marks);
      from += found.size();
    }
    if (tokenizers::close_text(out.text)) out.marks.back() = base::sentence_end;
    return out;
  }
  /// The words that a text is cut into.
  STENO_COLD std::vector<std::string> split(std::string_view text) const {
    return dictionary.empty() ? tokenizers::split_words(text) : tokenizers::split_words(text, dictionary);
  }

 private:
  // As the original's punc_array: inside of a word from U+0E00 to U+9FA5 there is a mark behind each character, none.
  static void add_marks(std::span<const std::string> part, std::span<const int> found, std::vector<int>& to) {
    constexpr int none = 1;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::uint32_t first = tokenizers::unicode::first_of(part[i]).value;
      if (first >= 0xe00 && first <= 0x9fa5)
        for (std::size_t n = tokenizers::count_characters(part[i]); n > 1; --n) to.push_back(none);
      to.push_back(found[i]);
    }
  }
};

/// The published ct-punc (Chinese and English, 272727 words): every extent static.
using ct_punc_zh = ct_punc<ct_punc_sizes{
    .encoder = {.features = 256, .width = 256, .heads = 8, .units = 1024, .taps = 11, .blocks = 3},
    .vocabulary = 272727,
    .marks = 6}>;
/// The published large one, whose words are those of a dictionary (471067 words).
using ct_punc_large = ct_punc<ct_punc_sizes{
    .encoder = {.features = 516, .width = 516, .heads = 12, .units = 2048, .taps = 11, .blocks = 11},
    .vocabulary = 471067,
    .marks = 6}>;
/// Any sizes: extents are adopted from the file.
using ct_punc_any = ct_punc<ct_punc_sizes{}>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
