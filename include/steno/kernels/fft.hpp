// steno/kernels/fft.hpp - forward FFTs of real signals: the policy that front ends are written against, and FFTW's
// form.
//
// 16 transforms are one call: x [n][16] -> y [n/2 + 1][re, im][16], y[k] = sum_i x[i] exp(-2 pi j i k / n), or its
// squared magnitude. Planning happens at construction; forward() and power() allocate nothing, may run on any number of
// threads, and a lane's bits do not depend on the other lanes. `real_fft` is real_fft_lanes: it needs no library and is
// faster than FFTW one row at a time (bench/frontends). STENO_FFT_EIGEN (cmake -DSTENO_FFT=eigen) leaves FFTW, which is
// GPL, out altogether. Tested in tests/kernels/fft_test.cpp.
#pragma once
#include <steno/kernels/fft_lanes.hpp>

#include <concepts>

#if !defined(STENO_FFT_EIGEN)
#include <fftw3.h>

#include <mutex>
#include <utility>
#include <vector>

// One planner in the process, so one lock and one cache for all instruction-set namespaces of steno. A program that
// plans with fftwf_* itself on other threads takes this lock too. Plans live as long as the process: they are few.
namespace steno_fftw {
struct planner {
  std::mutex lock;
  std::vector<std::pair<int, fftwf_plan>> plans;  ///< length, plan
};
inline planner& shared_planner() {
  static planner* const one = new planner;  // never destroyed: a model in a static may run until the very end
  return *one;
}
}  // namespace steno_fftw
#endif

namespace steno::inline STENO_ABI::kernels {

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

#if !defined(STENO_FFT_EIGEN)
class real_fft_fftw {
 public:
  /// Plans (or finds the plan) for rows of `n` values; throws steno::error unless 1 <= n <= 2^20.
  explicit real_fft_fftw(extent n) : n_(n) {
    if (n < 1 || n > real_fft_lanes::largest)
      fail({.what = "FFT length", .expected = "1 to 1048576", .found = std::to_string(n)});
    steno_fftw::planner& all = steno_fftw::shared_planner();
    const std::lock_guard<std::mutex> locked(all.lock);
    for (const auto& [length, plan] : all.plans)
      if (length == n) plan_ = plan;
    if (plan_ != nullptr) return;
    std::vector<float> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(2 * bins()));
    plan_ = fftwf_plan_dft_r2c_1d(static_cast<int>(n), x.data(), reinterpret_cast<fftwf_complex*>(y.data()),
                                  FFTW_ESTIMATE | FFTW_UNALIGNED);
    if (plan_ == nullptr) fail({.what = "FFTW cannot plan a real transform of " + std::to_string(n) + " values"});
    all.plans.emplace_back(static_cast<int>(n), plan_);
  }

  extent size() const noexcept { return n_; }
  extent bins() const noexcept { return n_ / 2 + 1; }
  extent scratch() const noexcept { return n_ + 2 * bins(); }

  void forward(float* x, float* y, float* scratch) const noexcept {
    each_lane(x, scratch, [&](extent lane, const float* row) {
      for (extent i = 0; i < 2 * bins(); ++i) y[16 * i + lane] = row[i];
    });
  }
  void power(float* x, float* y, float* scratch) const noexcept {
    each_lane(x, scratch, [&](extent lane, const float* row) {
      for (extent k = 0; k < bins(); ++k) y[16 * k + lane] = row[2 * k] * row[2 * k] + row[2 * k + 1] * row[2 * k + 1];
    });
  }

 private:
  void each_lane(const float* x, float* scratch, auto use) const noexcept {
    float* const row = scratch + n_;
    for (extent lane = 0; lane < 16; ++lane) {
      for (extent i = 0; i < n_; ++i) scratch[i] = x[16 * i + lane];
      fftwf_execute_dft_r2c(plan_, scratch, reinterpret_cast<fftwf_complex*>(row));
      use(lane, row);
    }
  }

  extent n_;
  fftwf_plan plan_ = nullptr;
};
static_assert(real_fft_policy<real_fft_fftw>);
#endif

using real_fft = real_fft_lanes;
static_assert(real_fft_policy<real_fft>);

}  // namespace steno::inline STENO_ABI::kernels
