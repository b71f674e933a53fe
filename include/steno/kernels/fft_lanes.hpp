// steno/kernels/fft_lanes.hpp - 16 real forward FFTs at once, one per vector lane, without any library.
//
// y[k] = sum_i x[i] exp(-2 pi j i k / n), k = 0 .. n/2. n/2 complex values (even samples real, odd ones imaginary) go
// through in-place stages of radix 4, 2, 3, 5 (decimation in frequency, results in digit-reversed places), then the two
// halves are separated. One transform per lane needs no shuffles and each lane has the same bits whatever the others
// hold. 512 points in 16 lanes are 32 KiB: they stay in the first cache. Body: generic/fft.inl.
// Tested in tests/kernels/fft_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/error.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {
struct fft_stage_size {
  int radix;
  extent length, table;  ///< complex values per block; first twiddle
};
struct fft_job {
  const fft_stage_size* stage;
  int stages;
  extent half;                ///< n / 2
  const float* twiddles;      ///< for value p of a block: w^p, w^2p, ..., w^(radix - 1)p
  const float* separate;      ///< exp(-2 pi j k / n)
  const std::int32_t* place;  ///< where frequency k stands after the stages
};
STENO_KERNEL_API void forward_of_lanes(const fft_job& job, float* x, float* y) noexcept;
STENO_KERNEL_API void power_of_lanes(const fft_job& job, float* x, float* y) noexcept;
}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

class real_fft_lanes {
 public:
  static constexpr extent largest = extent{1} << 20;

  /// Tables for `n` points; throws steno::error unless n is even, no more than 2^20 and n / 2 has no primes but 2,
  /// 3, 5.
  STENO_COLD explicit real_fft_lanes(extent n) : half_(n / 2) {
    extent length = n < 2 || n > largest || n % 2 != 0 ? 0 : half_;
    place_.assign(length == 0 ? 0 : static_cast<std::size_t>(half_), 0);
    for (extent before = 1; length > 1;) {
      const int r = length % 4 == 0 ? 4 : length % 2 == 0 ? 2 : length % 3 == 0 ? 3 : length % 5 == 0 ? 5 : 0;
      if (r == 0) length = 0;
      if (r == 0) break;
      stages_.push_back({r, length, static_cast<extent>(twiddles_.size())});
      for (extent p = 0; p < length / r; ++p)
        for (extent j = 1; j < r; ++j) push_root(twiddles_, p * j % length, length);
      for (extent k = 0; k < half_; ++k)  // the next digit of k chooses the block
        place_[static_cast<std::size_t>(k)] += static_cast<std::int32_t>(k / before % r * (length / r));
      before *= r;
      length /= r;
    }
    if (length != 1)
      fail({.what = "FFT length",
            .expected = "an even number up to 1048576 without primes above 5",
            .found = std::to_string(n)});
    for (extent k = 0; k < half_; ++k) push_root(separate_, k, n);
  }

  extent size() const noexcept { return 2 * half_; }
  extent bins() const noexcept { return half_ + 1; }
  /// Floats of scratch for one call.
  extent scratch() const noexcept { return 0; }

  /// x [n][16] -> y [bins][re, im][16]. x is overwritten. Thread-safe.
  void forward(float* x, float* y, float*) const noexcept { detail::forward_of_lanes(job(), x, y); }
  /// x [n][16] -> squared magnitudes [bins][16]. x is overwritten. Thread-safe.
  void power(float* x, float* y, float*) const noexcept { detail::power_of_lanes(job(), x, y); }

 private:
  STENO_COLD static void push_root(std::vector<float>& to, extent k, extent n) {
    const double a = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    to.push_back(static_cast<float>(std::cos(a)));
    to.push_back(static_cast<float>(std::sin(a)));
  }
  detail::fft_job job() const noexcept {
    return {stages_.data(), static_cast<int>(stages_.size()), half_, twiddles_.data(), separate_.data(), place_.data()};
  }

  extent half_;
  std::vector<detail::fft_stage_size> stages_;
  std::vector<float> twiddles_, separate_;
  std::vector<std::int32_t> place_;
};

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/fft.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void detail::forward_of_lanes(const fft_job& job, float* x, float* y) noexcept {
  STENO_KERNEL(fft_forward)(job, x, y);
}
STENO_KERNEL_BODY void detail::power_of_lanes(const fft_job& job, float* x, float* y) noexcept {
  STENO_KERNEL(fft_power)(job, x, y);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
