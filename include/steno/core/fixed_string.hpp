// steno/core/fixed_string.hpp - a string literal as a template argument: at<"encoders0", ...>.
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

template <std::size_t N>
struct fixed_string {
  char text[N] = {};
  consteval fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

}  // namespace STENO_ABI
}  // namespace steno
