// steno/core/fixed_string.hpp - a string literal as a template argument: at<"encoders0", ...>.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// A string literal of N - 1 characters as a template argument. Equal texts are the same argument.
template <std::size_t N>
struct fixed_string {
  /// The characters and the final zero; public, since a template argument may have no private members
  char text[N] = {};
  /// From the literal itself, at compile time only.
  consteval fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  /// The text without the final zero.
  constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
