// steno/core/half.hpp - IEEE half and bfloat16 to and from float, by bit arithmetic, correct for every pattern.
//
// Rounding is to nearest even, subnormals and infinities included. Vectorised forms are in kernels/isa.
// Tested in tests/core/half_test.cpp (all 65536 patterns, against the compiler's _Float16).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/bit_cast.hpp>

#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace core {

constexpr float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity or NaN
    return core::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return core::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -subnormal : subnormal;
}

constexpr std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = core::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65536 and above
  if (magnitude < 0x38800000u) {  // subnormal half: adding 0.5 aligns its last bit with the float's last bit
    const float aligned = core::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (core::bit_cast<std::uint32_t>(aligned) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

constexpr float bfloat_to_float(std::uint16_t b) { return core::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

constexpr std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = core::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // keep it a NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
