// steno/kernels/fft.hpp - forward FFTs of real signals: the policy that front ends are written against, and FFTW's
// form.
//
// 16 transforms are one call: x [n][16] -> y [n/2 + 1][re, im][16], y[k] = sum_i x[i] exp(-2 pi j i k / n), or its
// squared magnitude. Planning happens at construction; forward() and power() allocate nothing, may run on any number of
// threads, and a lane's bits do not depend on the other lanes. `real_fft` is real_fft_lanes, which needs no library;
// STENO_FFT_FFTW (cmake -DSTENO_FFT=fftw) makes it FFTW's, which is GPL, slower here, and ends the process when there
// is no memory for a plan. Tested in tests/kernels/fft_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/aligned.hpp>
#include <steno/kernels/fft_lanes.hpp>

#include <concepts>

#if defined(STENO_FFT_FFTW)
#include <fftw3.h>

#include <mutex>
#include <utility>
#include <vector>

// One planner in the process, so one lock and one cache for all instruction-set namespaces of steno. A program that
// plans with fftwf_* itself on other threads takes this lock too. Plans live as long as the process: they are few.
namespace steno_fftw {
struct planner {
  std::mutex lock;
  std::vector<std::pair<int, fftwf_plan>> plans;  ///< length, plan of 16 transforms
};
inline planner& shared_planner() {
  static planner* const one = new planner;  // never destroyed: a model in a static may run until the very end
  return *one;
}
}  // namespace steno_fftw
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// 16 forward transforms of one fixed length. Copyable, const, thread-safe.
template <class F>
concept real_fft_policy = std::copyable<F> && std::constructible_from<F, extent> &&
    requires(const F& f, float* x, float* y, float* scratch) {
  { f.size() } -> std::same_as<extent>;     // n
  { f.bins() } -> std::same_as<extent>;     // n / 2 + 1
  { f.scratch() } -> std::same_as<extent>;  // floats of scratch for one call, 64-byte aligned
  { f.forward(x, y, scratch) }
  noexcept;  // [n][16] -> [bins][re, im][16]; x is overwritten
  { f.power(x, y, scratch) }
  noexcept;  // [n][16] -> [bins][16]; x is overwritten
};

#if defined(STENO_FFT_FFTW)
/// FFTW: 16 rows are one plan (fftwf_plan_many_dft_r2c). The plan is estimated, not measured: it must not change from
/// one run to the next. FFTW chooses its vector code for the processor, so bits may differ between processors.
class real_fft_fftw {
 public:
  static constexpr extent largest = extent{1} << 20;

  /// Plans (or finds the plan) for 16 rows of `n` values; throws steno::error unless 1 <= n <= 2^20.
  STENO_COLD explicit real_fft_fftw(extent n) : n_(n) {
    if (n < 1 || n > largest) fail({.what = "FFT length", .expected = "1 to 1048576", .found = std::to_string(n)});
    steno_fftw::planner& all = steno_fftw::shared_planner();
    const std::lock_guard<std::mutex> locked(all.lock);
    for (const auto& [length, plan] : all.plans)
      if (length == n) plan_ = plan;
    if (plan_ != nullptr) return;
    all.plans.reserve(all.plans.size() + 1);
    const auto length = static_cast<int>(n);
    core::line_vector<float> work(static_cast<std::size_t>(scratch()));
    plan_ = fftwf_plan_many_dft_r2c(1, &length, 16, work.data(), nullptr, 1, static_cast<int>(stride()),
                                    reinterpret_cast<fftwf_complex*>(work.data() + 16 * stride()), nullptr, 16, 1,
                                    FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
    if (plan_ == nullptr) fail({.what = "FFTW cannot plan a real transform of " + std::to_string(n) + " values"});
    all.plans.emplace_back(length, plan_);
  }

  extent size() const noexcept { return n_; }
  extent bins() const noexcept { return n_ / 2 + 1; }
  extent scratch() const noexcept { return 16 * stride() + 32 * bins(); }

  void forward(float* x, float* y, float* scratch) const noexcept {
    const float* const z = transform(x, scratch);
    for (extent k = 0; k < bins(); ++k)
      for (extent lane = 0; lane < 16; ++lane)
        for (extent part = 0; part < 2; ++part) y[32 * k + 16 * part + lane] = z[32 * k + 2 * lane + part];
  }
  void power(float* x, float* y, float* scratch) const noexcept {
    const float* const z = transform(x, scratch);
    for (extent i = 0; i < 16 * bins(); ++i) y[i] = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];
  }

 private:
  /// Floats from one row to the next: whole cache lines, and never a power of two of them, which would all meet in the
  /// same few places of the first cache.
  extent stride() const noexcept { return (n_ + 31) / 32 * 32 + 16; }

  /// [n][16] -> [bins][16] complex values, in scratch.
  const float* transform(const float* x, float* scratch) const noexcept {
    float* const z = scratch + 16 * stride();
    for (extent i = 0; i < n_; ++i)
      for (extent lane = 0; lane < 16; ++lane) scratch[lane * stride() + i] = x[16 * i + lane];
    fftwf_execute_dft_r2c(plan_, scratch, reinterpret_cast<fftwf_complex*>(z));
    return z;
  }

  extent n_;
  fftwf_plan plan_ = nullptr;
};
static_assert(real_fft_policy<real_fft_fftw>);

using real_fft = real_fft_fftw;
#else
using real_fft = real_fft_lanes;
#endif
static_assert(real_fft_policy<real_fft>);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
