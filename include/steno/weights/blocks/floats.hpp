// steno/weights/blocks/floats.hpp - f32, f16, bf16 and i32 rows to and from float, as loops that compilers vectorise.
//
// Same values as core/half.hpp (rounding to nearest even, infinities and subnormals included), written without
// branches. Tested in tests/weights/blocks_test.cpp (all 65536 patterns, golden rows of ggml).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/core/half.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

inline void read_f32(const std::byte* src, float* dst, std::size_t count) {
  if (count != 0) std::memcpy(dst, src, count * sizeof(float));
}
inline void write_f32(const float* src, std::byte* dst, std::size_t count) {
  if (count != 0) std::memcpy(dst, src, count * sizeof(float));
}

inline void read_f16(const std::byte* src, float* dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t h;
    std::memcpy(&h, src + 2 * i, sizeof h);
    const std::uint32_t magnitude = h & 0x7fffu, sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const std::uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u);
    const auto subnormal =
        core::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
    dst[i] = core::bit_cast<float>(sign | (magnitude < 0x400u ? subnormal : normal));
  }
}
/// Values beyond 65504 become infinity, as in ggml.
inline void write_f16(const float* src, std::byte* dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = core::bit_cast<std::uint32_t>(src[i]), magnitude = bits & 0x7fffffffu;
    const std::uint32_t rounded = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    // A subnormal half: adding 0.5 aligns its last bit with the float's last bit.
    const std::uint32_t subnormal =
        core::bit_cast<std::uint32_t>(core::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    std::uint32_t h = magnitude < 0x38800000u ? subnormal : rounded;
    h = magnitude >= 0x47800000u ? 0x7c00u : h;
    h = magnitude > 0x7f800000u ? nan : h;
    const auto half = static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | h);
    std::memcpy(dst + 2 * i, &half, sizeof half);
  }
}

inline void read_bf16(const std::byte* src, float* dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t b;
    std::memcpy(&b, src + 2 * i, sizeof b);
    dst[i] = core::bfloat_to_float(b);
  }
}
inline void write_bf16(const float* src, std::byte* dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t b = core::float_to_bfloat(src[i]);
    std::memcpy(dst + 2 * i, &b, sizeof b);
  }
}

/// Integers beyond 2^24 are rounded to the nearest float.
inline void read_i32(const std::byte* src, float* dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t v;
    std::memcpy(&v, src + 4 * i, sizeof v);
    dst[i] = static_cast<float>(v);
  }
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
