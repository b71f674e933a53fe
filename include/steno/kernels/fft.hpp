// steno/kernels/fft.hpp - forward FFT of real rows: the policy that front ends are written against, and FFTW's form.
//
// y[k] = sum_i x[i] exp(-2 pi j i k / n) for k = 0 .. n/2, real and imaginary parts in turn. Planning happens at
// construction under one lock (FFTW's planner is not thread-safe, execution on new arrays is); forward() allocates
// nothing and may run on any number of threads. Rows may lie anywhere (FFTW_UNALIGNED), so equal rows give equal bits.
// STENO_FFT_EIGEN (cmake -DSTENO_FFT=eigen) leaves FFTW, which is GPL, out. Tested in tests/kernels/fft_test.cpp.
#pragma once
#include <steno/core/view.hpp>
#include <steno/error.hpp>
#include <steno/kernels/fft_portable.hpp>

#include <concepts>
#include <string>

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

/// Forward transform of real rows of one fixed length. Copyable, const, thread-safe.
template <class F>
concept real_fft_policy = std::copyable<F> && std::constructible_from<F, extent> &&
    requires(const F& f, const float* x, float* y, float* scratch) {
  { f.size() } -> std::same_as<extent>;     // n
  { f.bins() } -> std::same_as<extent>;     // n / 2 + 1
  { f.scratch() } -> std::same_as<extent>;  // floats of scratch for one call
  { f.forward(x, y, scratch) }
  noexcept;  // x[n] -> y[2 * bins]
};

#if !defined(STENO_FFT_EIGEN)
class real_fft_fftw {
 public:
  /// Plans (or finds the plan) for rows of `n` values; throws steno::error unless 1 <= n <= 2^24.
  explicit real_fft_fftw(extent n) : n_(n) {
    if (n < 1 || n > real_fft_portable::largest)
      fail({.what = "FFT length", .expected = "1 to 16777216", .found = std::to_string(n)});
    steno_fftw::planner& all = steno_fftw::shared_planner();
    const std::lock_guard<std::mutex> locked(all.lock);
    for (const auto& [length, plan] : all.plans)
      if (length == n) plan_ = plan;
    if (plan_ != nullptr) return;
    std::vector<float> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(2 * bins()));
    plan_ = fftwf_plan_dft_r2c_1d(static_cast<int>(n), x.data(), reinterpret_cast<fftwf_complex*>(y.data()),
                                  FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT);
    if (plan_ == nullptr) fail({.what = "FFTW cannot plan a real transform of " + std::to_string(n) + " values"});
    all.plans.emplace_back(static_cast<int>(n), plan_);
  }

  extent size() const noexcept { return n_; }
  extent bins() const noexcept { return n_ / 2 + 1; }
  extent scratch() const noexcept { return 0; }

  /// x[n] -> y[2 * bins()], real and imaginary parts in turn; x and y do not overlap.
  void forward(const float* x, float* y, float*) const noexcept {
    // FFTW_PRESERVE_INPUT: the input is only read, FFTW's signature just does not say so.
    fftwf_execute_dft_r2c(plan_, const_cast<float*>(x), reinterpret_cast<fftwf_complex*>(y));
  }

 private:
  extent n_;
  fftwf_plan plan_ = nullptr;
};
using real_fft = real_fft_fftw;
#else
using real_fft = real_fft_portable;
#endif

static_assert(real_fft_policy<real_fft> && real_fft_policy<real_fft_portable>);

/// Transforms each row of x[rows, n] into y[rows, 2 * bins]; `scratch` holds f.scratch() floats.
template <real_fft_policy F>
void forward_rows(const F& f, const view<const float>& x, view<float> y, float* scratch) noexcept {
  for (extent r = 0; r < x.rows(); ++r)
    f.forward(x.data() + r * x.outerStride(), y.data() + r * y.outerStride(), scratch);
}

}  // namespace steno::inline STENO_ABI::kernels
