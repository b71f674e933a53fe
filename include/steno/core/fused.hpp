// steno/core/fused.hpp - one multiplication and one addition, rounded once or twice, on every system.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/bit_cast.hpp>

#include <cmath>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// x * y + z, rounded once. std::fma, but on Windows, where mingw-w64's rounds twice: the product is exact in double,
/// the sum is rounded to odd there, and then to float (Boldo and Melquiond, Emulation of FMA and Correctly Rounded
/// Sums, 2008). WebAssembly has no such instruction: rounded twice there, by its vectors, too.
/// Tested in tests/core/fused_test.cpp.
inline float fused_multiply_add(float x, float y, float z) noexcept {
#if defined(_WIN32)
  const double p = static_cast<double>(x) * static_cast<double>(y), q = static_cast<double>(z), sum = p + q;
  const double of_q = sum - p, lost = (p - (sum - of_q)) + (q - of_q);
  auto bits = core::bit_cast<std::uint64_t>(sum);
  if ((lost > 0 || lost < 0) && (bits & 1u) == 0) (lost > 0) == (sum > 0) ? ++bits : --bits;
  return static_cast<float>(core::bit_cast<double>(bits));
#elif defined(__wasm__)
  return x * y + z;
#else
  return std::fma(x, y, z);
#endif
}

/// Products that lie at `p` are rounded before anything is added to them, also where the compiler may contract both
/// into one instruction, as GCC does by default. MSVC does that on request only.
inline void keep_rounded([[maybe_unused]] float* p) noexcept {
#if defined(__GNUC__)
  asm volatile("" : : "r"(p) : "memory");
#endif
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
