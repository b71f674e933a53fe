// steno/core/hotword.hpp - a phrase that a recogniser is to favour, and how much.
//
//   phrase               counts as much as the list does
//   phrase<TAB>weight    `weight` times as much (lines of a file, entries of a request)
//
// Tested in tests/core/hotword_test.cpp and tests/fuzz/hotwords_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/decimal.hpp>
#include <steno/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// A phrase to favour. One of a plain text has a weight of 1.
struct hotword {
  static constexpr float min_weight = 0.01f;       ///< the smallest weight that a line may have
  static constexpr float max_weight = 100;         ///< the largest
  static constexpr std::size_t max_length = 1000;  ///< bytes of a line

  std::string phrase = {};  ///< UTF-8
  float weight = 1;         ///< factor of what its units earn; positive

  hotword() = default;
  /// A phrase of weight 1, or of another.
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view> hotword(const Text& text, float factor = 1)
      : phrase(std::string_view(text)), weight(factor) {}
  bool operator==(const hotword&) const = default;
};

/// "phrase" or "phrase<TAB>weight", without white space around the phrase; nothing for a line without one. Throws
/// steno::error for a weight that is none, and for a line that is too long.
STENO_ON_CALL STENO_COLD inline std::optional<hotword> parse_hotword(std::string_view line) {
  if (line.size() > hotword::max_length)
    fail({.what = "a hotword's line is too long",
          .expected = "up to " + std::to_string(hotword::max_length) + " bytes",
          .found = std::to_string(line.size())});
  const auto trim = [](std::string_view& s) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  };
  trim(line);
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos) return line.empty() ? std::nullopt : std::optional<hotword>(line);
  std::string_view phrase = line.substr(0, tab), number = line.substr(tab + 1);
  trim(phrase);
  trim(number);
  const double weight = parse_decimal(number).value_or(0);
  if (!(weight >= hotword::min_weight && weight <= hotword::max_weight) || phrase.find('\t') != std::string_view::npos)
    fail({.what = "weight of a hotword",
          .expected = "phrase<TAB>weight, a number from 0.01 to 100",
          .found = std::string(line)});
  return hotword(phrase, static_cast<float>(weight));
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
