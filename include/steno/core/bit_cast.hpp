// steno/core/bit_cast.hpp - the bits of a value as another type: std::bit_cast, also where the standard library has
// none yet (LLVM's up to version 13, Emscripten's of Debian 12).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <bit>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace core {

#if defined(__cpp_lib_bit_cast)
using std::bit_cast;
#else
template <class To, class From>
requires(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> &&
         std::is_trivially_copyable_v<From>) constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
