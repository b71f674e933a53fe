// steno/tokenizers/scripts.hpp - which characters belong to scripts that are written without spaces.
//
// Blocks are Unicode's. Tested in tests/tokenizers/scripts_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/unicode_classes.hpp>

#include <cstdint>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

constexpr bool is_ideograph(std::uint32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b820 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff);
}
/// Letters of Han, kana, Thai, Lao, Myanmar and Khmer. Not Hangul: Korean has spaces.
constexpr bool is_written_without_spaces(std::uint32_t c) {
  return is_ideograph(c) || (c >= 0x3040 && c <= 0x30ff) || (c >= 0x31f0 && c <= 0x31ff) ||
         (c >= 0x0e00 && c <= 0x0eff) || (c >= 0x1000 && c <= 0x109f) || (c >= 0x1780 && c <= 0x17ff);
}
/// Punctuation that has its space within: CJK symbols, full-width and half-width forms.
constexpr bool is_wide_punctuation(std::uint32_t c) {
  return (c >= 0x3000 && c <= 0x303f) || (c >= 0xff00 && c <= 0xffef);
}

/// Whether a space belongs between two texts of one speech: not where one is empty, where there is white space already,
/// and where one of the two characters is of a script without spaces.
constexpr bool wants_space_between(std::string_view before, std::string_view after) {
  if (before.empty() || after.empty()) return false;
  std::size_t last = before.size() - 1;  // the first byte of the last character
  while (last > 0 && before.size() - last < 4 && (static_cast<unsigned char>(before[last]) & 0xc0u) == 0x80) --last;
  const auto bare = [](unicode::code_point c) {
    return unicode::is_space(c.value) || is_written_without_spaces(c.value) || is_wide_punctuation(c.value);
  };
  return !bare(unicode::first_of(before.substr(last))) && !bare(unicode::first_of(after));
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
