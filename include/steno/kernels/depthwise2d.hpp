// steno/kernels/depthwise2d.hpp - convolution of each channel of a plane with its own 3 x 3 taps, every second place.
//
//   y[t][f][c] = bias[c] + sum_{i, j < 3} taps[i][j][c] * x[2 t + i - left][2 f + j - left][c]
//
// torch.nn.Conv2d(groups = channels, stride = 2) on planes stored as [frame, band, channel]; outside of the plane are
// zeros. Exact f32, summed in the order of i, j. Body: generic/depthwise2d.inl. Tested in
// tests/kernels/depthwise2d_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Frames first .. last - 1 of a plane, bands x channels values each, contiguous; frames outside count as zeros.
struct plane {
  const float* data;
  extent first, last, bands, channels;
};

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Output frames from .. to - 1, `bands` x channels each, to y; taps [9][channels], bias [channels].
STENO_KERNEL_API void depthwise2d(const plane& x, extent left, const float* taps, const float* bias, extent from,
                                  extent to, extent bands, float* y, const executor& run);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/depthwise2d.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void depthwise2d(const plane& x, extent left, const float* taps, const float* bias, extent from,
                                   extent to, extent bands, float* y, const executor& run) {
  const auto row = STENO_KERNEL(depthwise2d_row);
  run.run(to - from, [&](extent t, int) { row(x, left, taps, bias, from + t, bands, y + t * bands * x.channels); });
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
