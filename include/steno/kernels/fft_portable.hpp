// steno/kernels/fft_portable.hpp - forward FFT of real rows without any library: y[k] = sum_i x[i] exp(-2 pi j i k /
// n).
//
// Stockham's self-sorting form with radices 4, 2, 3, 5 and a plain sum for other primes, on separate real and imaginary
// arrays; an even n is one complex transform of n/2 and a last pass that separates the two halves. It exists because
// Eigen's unsupported FFT allocates and writes to shared members in its forward call, so a const, shared front end
// could not use it. Tested in tests/kernels/fft_test.cpp.
#pragma once
#include <steno/core/extents.hpp>
#include <steno/error.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI::kernels {

class real_fft_portable {
 public:
  static constexpr extent largest = extent{1} << 24;

  /// Tables for rows of `n` values; throws steno::error unless 1 <= n <= largest.
  explicit real_fft_portable(extent n) : n_(n) {
    if (n < 1 || n > largest) fail({.what = "FFT length", .expected = "1 to 16777216", .found = std::to_string(n)});
    half_ = n % 2 == 0 ? n / 2 : n;
    extent left = half_, stride = 1;
    while (left > 1) {
      const extent r = radix(left);
      stages_.push_back({r, left / r, stride, static_cast<extent>(twiddles_.size())});
      for (extent j = 1; j < r; ++j)
        for (extent p = 0; p < left / r; ++p) twiddles_.push_back(root(p * j % left, left));
      if (r > 5)
        for (extent j = 0; j < r; ++j) twiddles_.push_back(root(j, r));
      left /= r;
      stride *= r;
    }
    if (n % 2 == 0)
      for (extent k = 0; k <= half_; ++k) separate_.push_back(root(k, n));
  }

  extent size() const noexcept { return n_; }
  extent bins() const noexcept { return n_ / 2 + 1; }
  /// Floats of scratch that forward() wants.
  extent scratch() const noexcept { return 4 * half_; }

  /// x[n] -> y[2 * bins()], real and imaginary parts in turn. Thread-safe; `scratch` is the caller's alone.
  void forward(const float* x, float* y, float* scratch) const noexcept {
    split in{scratch, scratch + half_}, out{scratch + 2 * half_, scratch + 3 * half_};
    const bool even = n_ % 2 == 0;
    for (extent k = 0; k < half_; ++k) {
      in.re[k] = even ? x[2 * k] : x[k];
      in.im[k] = even ? x[2 * k + 1] : 0.0f;
    }
    for (const stage& s : stages_) {
      switch (s.radix) {
        case 2:
          pass<2>(s, in, out);
          break;
        case 3:
          pass<3>(s, in, out);
          break;
        case 4:
          pass<4>(s, in, out);
          break;
        case 5:
          pass<5>(s, in, out);
          break;
        default:
          pass_any(s, in, out);
      }
      std::swap(in, out);
    }
    if (!even) {
      for (extent k = 0; k < bins(); ++k) {
        y[2 * k] = in.re[k];
        y[2 * k + 1] = in.im[k];
      }
      return;
    }
    for (extent k = 0; k <= half_; ++k) {  // z = even samples + j odd samples
      const extent a = k == half_ ? 0 : k, b = k == 0 ? 0 : half_ - k;
      const float even_re = 0.5f * (in.re[a] + in.re[b]), even_im = 0.5f * (in.im[a] - in.im[b]);
      const float odd_re = 0.5f * (in.im[a] + in.im[b]), odd_im = 0.5f * (in.re[b] - in.re[a]);
      const complex w = separate_[static_cast<std::size_t>(k)];
      y[2 * k] = even_re + (w.re * odd_re - w.im * odd_im);
      y[2 * k + 1] = even_im + (w.re * odd_im + w.im * odd_re);
    }
  }

 private:
  struct complex {
    float re, im;
  };
  struct split {
    float *re, *im;
  };
  struct stage {
    extent radix, groups, stride, table;
  };

  static extent radix(extent n) {
    for (const extent r : {4, 2, 3, 5})
      if (n % r == 0) return r;
    extent r = 7;
    while (r * r <= n && n % r != 0) r += 2;
    return n % r == 0 ? r : n;
  }
  static complex root(extent k, extent n) {
    const double a = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {static_cast<float>(std::cos(a)), static_cast<float>(std::sin(a))};
  }

  /// The R-point transform of v, in place.
  template <std::size_t R>
  STENO_INLINE static void butterfly(complex (&v)[R]) {
    if constexpr (R == 2) {
      const complex a = v[0], b = v[1];
      v[0] = {a.re + b.re, a.im + b.im};
      v[1] = {a.re - b.re, a.im - b.im};
    } else if constexpr (R == 3) {
      constexpr float s = 0.86602540378443865f;
      const complex sum{v[1].re + v[2].re, v[1].im + v[2].im};
      const complex turned{s * (v[1].im - v[2].im), s * (v[2].re - v[1].re)};
      const complex mid{v[0].re - 0.5f * sum.re, v[0].im - 0.5f * sum.im};
      v[0] = {v[0].re + sum.re, v[0].im + sum.im};
      v[1] = {mid.re + turned.re, mid.im + turned.im};
      v[2] = {mid.re - turned.re, mid.im - turned.im};
    } else if constexpr (R == 4) {
      const complex a{v[0].re + v[2].re, v[0].im + v[2].im}, b{v[0].re - v[2].re, v[0].im - v[2].im};
      const complex c{v[1].re + v[3].re, v[1].im + v[3].im}, d{v[1].im - v[3].im, v[3].re - v[1].re};
      v[0] = {a.re + c.re, a.im + c.im};
      v[1] = {b.re + d.re, b.im + d.im};
      v[2] = {a.re - c.re, a.im - c.im};
      v[3] = {b.re - d.re, b.im - d.im};
    } else {
      static_assert(R == 5);
      constexpr float c1 = 0.30901699437494742f, c2 = -0.80901699437494742f;
      constexpr float s1 = 0.95105651629515357f, s2 = 0.58778525229247313f;
      const complex p1{v[1].re + v[4].re, v[1].im + v[4].im}, m1{v[1].re - v[4].re, v[1].im - v[4].im};
      const complex p2{v[2].re + v[3].re, v[2].im + v[3].im}, m2{v[2].re - v[3].re, v[2].im - v[3].im};
      const complex a{v[0].re + c1 * p1.re + c2 * p2.re, v[0].im + c1 * p1.im + c2 * p2.im};
      const complex b{v[0].re + c2 * p1.re + c1 * p2.re, v[0].im + c2 * p1.im + c1 * p2.im};
      const complex d{s1 * m1.im + s2 * m2.im, -(s1 * m1.re + s2 * m2.re)};
      const complex e{s2 * m1.im - s1 * m2.im, -(s2 * m1.re - s1 * m2.re)};
      v[0] = {v[0].re + p1.re + p2.re, v[0].im + p1.im + p2.im};
      v[1] = {a.re + d.re, a.im + d.im};
      v[2] = {b.re + e.re, b.im + e.im};
      v[3] = {b.re - e.re, b.im - e.im};
      v[4] = {a.re - d.re, a.im - d.im};
    }
  }

  /// One stage: out[q + s (R p + j)] = w^(p j) * butterfly_j(in[q + s (p + groups i)], i < R).
  template <std::size_t R>
  void pass(const stage& t, split in, split out) const noexcept {
    const complex* const w = twiddles_.data() + t.table;
    const float* const __restrict xr = in.re;
    const float* const __restrict xi = in.im;
    float* const __restrict yr = out.re;
    float* const __restrict yi = out.im;
    const extent s = t.stride, m = t.groups;
    for (extent p = 0; p < m; ++p) {
      complex turn[R];
      for (std::size_t j = 1; j < R; ++j) turn[j] = w[(static_cast<extent>(j) - 1) * m + p];
      for (extent q = 0; q < s; ++q) {
        complex v[R];
        for (std::size_t i = 0; i < R; ++i) {
          const extent at = q + s * (p + m * static_cast<extent>(i));
          v[i] = {xr[at], xi[at]};
        }
        butterfly<R>(v);
        const extent home = q + s * static_cast<extent>(R) * p;
        yr[home] = v[0].re;
        yi[home] = v[0].im;
        for (std::size_t j = 1; j < R; ++j) {
          const extent at = home + s * static_cast<extent>(j);
          yr[at] = v[j].re * turn[j].re - v[j].im * turn[j].im;
          yi[at] = v[j].re * turn[j].im + v[j].im * turn[j].re;
        }
      }
    }
  }

  void pass_any(const stage& t, split in, split out) const noexcept {
    const extent r = t.radix, s = t.stride, m = t.groups;
    const complex* const w = twiddles_.data() + t.table;
    const complex* const roots = w + (r - 1) * m;
    for (extent p = 0; p < m; ++p)
      for (extent j = 0; j < r; ++j) {
        const complex turn = j == 0 ? complex{1, 0} : w[(j - 1) * m + p];
        for (extent q = 0; q < s; ++q) {
          float re = 0, im = 0;
          for (extent i = 0; i < r; ++i) {
            const complex c = roots[i * j % r];
            const float a = in.re[q + s * (p + m * i)], b = in.im[q + s * (p + m * i)];
            re += a * c.re - b * c.im;
            im += a * c.im + b * c.re;
          }
          out.re[q + s * (r * p + j)] = re * turn.re - im * turn.im;
          out.im[q + s * (r * p + j)] = re * turn.im + im * turn.re;
        }
      }
  }

  extent n_, half_ = 0;
  std::vector<stage> stages_;
  std::vector<complex> twiddles_, separate_;
};

}  // namespace steno::inline STENO_ABI::kernels
