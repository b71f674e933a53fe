// steno/kernels/log_mel.hpp - the two ends of a filterbank around the FFT, for 16 frames at once, one per vector lane.
//
// frames_to_lanes: samples -> scaled, cleaned, mean-free, pre-emphasised, windowed, zero-padded x [size][16].
// log_mel_of_lanes: spectrum [bins][16] -> ln(max(filters * spectrum, floor) + add), or that without the logarithm, one
// row per frame.
// Bodies: generic/log_mel.inl. Tested in tests/frontends/fbank_test.cpp (every instruction set).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {
struct framing {
  static constexpr float limit = 0x1p40f;  ///< scaled samples not below this (and NaN) count as 0
  extent length, shift, size;              ///< samples per frame, between frames, after padding
  float scale, preemphasis;
  bool remove_dc;
  const float* window;  ///< [length]
};
struct mel_job {
  extent mels;
  const extent *first, *begin;  ///< filter b: bins first[b] .., weights begin[b] .. begin[b + 1] - 1
  const float* weights;
  float floor;    ///< the sum with `add` is a positive normal number
  float add = 0;  ///< to the sum, after the floor
  bool logarithm = true;
};
}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

using detail::framing;
using detail::mel_job;

/// Frames at raw, raw + shift, ... (`count` of them, 1 to 16) to x [size][16]; other lanes repeat the last frame.
STENO_KERNEL_API void frames_to_lanes(const framing& job, const float* raw, int count, float* x) noexcept;
/// spectrum [bins][16] to rows y[lane * stride + b], lane < count; work: 16 * mels floats.
STENO_KERNEL_API void log_mel_of_lanes(const mel_job& job, const float* spectrum, int count, float* y, extent stride,
                                       float* work) noexcept;

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/log_mel.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void frames_to_lanes(const framing& job, const float* raw, int count, float* x) noexcept {
  STENO_KERNEL(frames_to_lanes)(job, raw, count, x);
}

STENO_KERNEL_BODY void log_mel_of_lanes(const mel_job& job, const float* spectrum, int count, float* y, extent stride,
                                        float* work) noexcept {
  STENO_KERNEL(log_mel_of_lanes)(job, spectrum, count, y, stride, work);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
