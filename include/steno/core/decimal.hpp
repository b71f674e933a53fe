// steno/core/decimal.hpp - a decimal number in a text, whatever the locale. Tested in tests/core/decimal_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <version>

namespace steno {
inline namespace STENO_ABI {
namespace core {
namespace detail {

/// Up to 15 digits with or without a point, and a minus before them.
STENO_COLD inline std::optional<double> parse_digits(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  double digits = 0, unit = 1;
  int count = 0;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++count > 15) return std::nullopt;
    digits = 10 * digits + (c - '0');
    if (point) unit *= 10;
  }
  if (count == 0) return std::nullopt;
  return (negative ? -digits : digits) / unit;  // both are exact, so this is rounded once
}

}  // namespace detail

/// The number that the whole of `text` is, such as "2", "0.75" or "1e-3"; none when it is anything else. Where the
/// standard library reads no floating-point numbers (LLVM's up to version 19), no exponents and up to 15 digits.
STENO_COLD inline std::optional<double> parse_decimal(std::string_view text) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
#else
  return detail::parse_digits(text);
#endif
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
