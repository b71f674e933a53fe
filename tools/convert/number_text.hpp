// tools/convert/number_text.hpp - a number in a text, whatever the locale, with every standard library.
//
// Tested in tests/convert/number_text_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <version>

namespace steno {
inline namespace STENO_ABI {

namespace detail {
/// std::from_chars() of a floating-point number by the C library, which programs leave in its "C" locale: LLVM's
/// standard library up to version 19 has none.
template <std::floating_point T>
std::from_chars_result float_by_c(std::string_view text, T& value) {
  const std::from_chars_result none{text.data(), std::errc::invalid_argument};
  // What the C library reads and from_chars() does not: spaces, a plus, hexadecimal digits.
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() <= sign || text[sign] == ' ' || text[sign] == '+' || text[sign] == '-') return none;
  const std::string copy(text.substr(0, text.find_first_of("xX \t\n\v\f\r")));
  char* end = nullptr;
  errno = 0;
  T read;
  if constexpr (std::same_as<T, float>)
    read = std::strtof(copy.c_str(), &end);
  else
    read = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str()) return none;
  const char* const at = text.data() + (end - copy.c_str());
  // The C library also minds numbers that are less exact than others; those are numbers to from_chars().
  if (errno == ERANGE && (read == 0 || std::isinf(read))) return {at, std::errc::result_out_of_range};
  value = read;
  return {at, {}};
}
/// The shortest number by the C library that reads as `value`, in 32 characters.
template <std::floating_point T>
std::string shortest_by_c(T value) {
  char text[32] = {};
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    T read = 0;
    if (float_by_c(std::string_view(text), read).ec == std::errc{} && read == value) break;
  }
  return text;
}
}  // namespace detail

/// As std::from_chars(), which floating-point numbers need not have.
template <class T>
std::from_chars_result read_number(std::string_view text, T& value) {
#if !defined(__cpp_lib_to_chars)
  if constexpr (std::floating_point<T>)
    return detail::float_by_c(text, value);
  else
#endif
    return std::from_chars(text.data(), text.data() + text.size(), value);
}
/// Whether the whole of `text` is a number, which `value` is then.
template <class T>
bool is_number(std::string_view text, T& value) {
  const auto [end, failure] = read_number(text, value);
  return failure == std::errc{} && end == text.data() + text.size();
}

/// The shortest decimal that is this number and no other of its type, so that 1e-5f is 1e-05.
template <std::floating_point T>
std::string number_text(T value) {
#if defined(__cpp_lib_to_chars)
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
#else
  return detail::shortest_by_c(value);
#endif
}

}  // namespace STENO_ABI
}  // namespace steno
