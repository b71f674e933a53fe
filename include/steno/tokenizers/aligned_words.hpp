// steno/tokenizers/aligned_words.hpp - the words of a text that a forced aligner gives times to.
//
// A text is cut at white space; letters, numbers and apostrophes stay; every ideograph is a word of its own. Follows
// `Qwen3ForceAlignProcessor.tokenize_space_lang` (qwen_asr/inference/qwen3_forced_aligner.py). The original cuts
// Japanese and Korean with libraries of their own (nagisa, soynlp), which steno does not have: they are cut like
// everything else. Tested in tests/parity/qwen3_aligner_test.cpp and tests/tokenizers/aligned_words_test.cpp.
#pragma once
#include <steno/tokenizers/unicode_classes.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

constexpr bool is_ideograph(std::uint32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b820 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff);
}

STENO_COLD inline std::vector<std::string> aligned_words(std::string_view text) {
  std::vector<std::string> words;
  std::string now;
  const auto flush = [&] {
    if (!now.empty()) words.push_back(std::exchange(now, {}));
  };
  while (!text.empty()) {
    const unicode::code_point c = unicode::first_of(text);
    const std::string_view letter = text.substr(0, c.length);
    text.remove_prefix(c.length);
    if (unicode::is_space(c.value) || (c.value >= 0x1c && c.value <= 0x1f)) {
      flush();
    } else if (c.valid() && is_ideograph(c.value)) {
      flush();
      words.emplace_back(letter);
    } else if (c.value == '\'' || (c.valid() && (unicode::is_letter(c.value) || unicode::is_number(c.value)))) {
      now += letter;
    }
  }
  flush();
  return words;
}

}  // namespace steno::inline STENO_ABI
