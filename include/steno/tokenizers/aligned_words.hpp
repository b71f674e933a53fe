// steno/tokenizers/aligned_words.hpp - the words of a text that a forced aligner gives times to.
//
// A text is cut at white space; letters, numbers and apostrophes stay; every ideograph is a word of its own. Follows
// `Qwen3ForceAlignProcessor.tokenize_space_lang` (qwen_asr/inference/qwen3_forced_aligner.py). Korean words are cut in
// two where a list of words says so, as `tokenize_korean` and soynlp's LTokenizer do. The original cuts Japanese with
// nagisa, a network of its own, which steno does not have: here a word ends where the script changes. Tested in
// tests/parity/qwen3_aligner_test.cpp and tests/tokenizers/aligned_words_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/scripts.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

STENO_ON_CALL STENO_COLD inline std::vector<std::string> aligned_words(std::string_view text) {
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

/// Korean: a word between white space is cut behind its longest beginning of two characters or more that is among
/// `known` (sorted); letters, numbers and apostrophes of both parts stay. The original's list is
/// korean_dict_jieba.dict.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> aligned_korean_words(std::string_view text,
                                                                              std::span<const std::string> known) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view part) {
    std::string clean;
    while (!part.empty()) {
      const unicode::code_point c = unicode::first_of(part);
      if (c.value == '\'' || (c.valid() && (unicode::is_letter(c.value) || unicode::is_number(c.value))))
        clean += part.substr(0, c.length);
      part.remove_prefix(c.length);
    }
    if (!clean.empty()) words.push_back(std::move(clean));
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const unicode::code_point c =
        at < text.size() ? unicode::first_of(text.substr(at)) : unicode::code_point{.value = ' ', .length = 1};
    if (unicode::is_space(c.value) || (c.value >= 0x1c && c.value <= 0x1f)) {
      const std::string_view word = text.substr(begin, at - begin);
      std::size_t cut = word.size(), end = 0;
      for (std::size_t n = 1; end < word.size(); ++n) {
        end += unicode::first_of(word.substr(end)).length;
        if (n >= 2 && std::binary_search(known.begin(), known.end(), word.substr(0, end))) cut = end;
      }
      add(word.substr(0, cut));
      add(word.substr(cut));
      begin = at + c.length;
    }
    at += c.length;
  }
  return words;
}

/// Japanese, without a dictionary: a run of ideographs, of hiragana, of katakana or of other letters and numbers is a
/// word; everything else stands between words. A long vowel mark belongs to the kana before it.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> aligned_japanese_words(std::string_view text) {
  enum class script { none, ideographs, hiragana, katakana, other };
  const auto script_of = [](const unicode::code_point& c, script before) {
    const std::uint32_t v = c.value;
    if (!c.valid() || !(v == '\'' || unicode::is_letter(v) || unicode::is_number(v))) return script::none;
    if (is_ideograph(v) || v == 0x3005 || v == 0x3006 || v == 0x3007) return script::ideographs;
    if (v == 0x30fc || v == 0xff70) return before == script::hiragana ? before : script::katakana;
    if (v >= 0x3041 && v <= 0x309f) return script::hiragana;
    const bool katakana = (v >= 0x30a0 && v <= 0x30ff) || (v >= 0x31f0 && v <= 0x31ff) || (v >= 0xff66 && v <= 0xff9f);
    return katakana ? script::katakana : script::other;
  };
  std::vector<std::string> words;
  script before = script::none;
  while (!text.empty()) {
    const unicode::code_point c = unicode::first_of(text);
    const script now = script_of(c, before);
    if (now != script::none) {
      if (now != before) words.emplace_back();
      words.back() += text.substr(0, c.length);
    }
    before = now;
    text.remove_prefix(c.length);
  }
  return words;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
