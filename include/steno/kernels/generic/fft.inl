// steno/kernels/generic/fft.inl - 16 real transforms at once, one per lane; compiled per instruction set by
// fft_lanes.hpp, which makes the tables.
// SPDX-License-Identifier: Apache-2.0

struct complex16 {
  f32x16 re, im;
};
STENO_INLINE complex16 operator+(complex16 a, complex16 b) { return {a.re + b.re, a.im + b.im}; }
STENO_INLINE complex16 operator-(complex16 a, complex16 b) { return {a.re - b.re, a.im - b.im}; }
STENO_INLINE complex16 load_complex(const float* p) { return {load(p), load(p + 16)}; }
STENO_INLINE void store_complex(float* p, complex16 a) {
  store(p, a.re);
  store(p + 16, a.im);
}
/// a * (w[0] + i w[1])
STENO_INLINE complex16 turned(complex16 a, const float* w) {
  const f32x16 re = broadcast(w[0]), im = broadcast(w[1]);
  return {fnma(a.im, im, a.re * re), fma(a.im, re, a.re * im)};
}
/// -i a
STENO_INLINE complex16 quarter(complex16 a) { return {a.im, zero() - a.re}; }
/// a + s b
STENO_INLINE complex16 plus(complex16 a, f32x16 s, complex16 b) { return {fma(s, b.re, a.re), fma(s, b.im, a.im)}; }

/// Stores result j of a butterfly, turned by its twiddle unless that is 1.
template <bool Turn, int J>
STENO_INLINE void put(float* z, extent step, complex16 a, const float* w) {
  if constexpr (Turn && J > 0) a = turned(a, w + 2 * (J - 1));
  store_complex(z + J * step, a);
}

/// The R-point transform of z[0], z[step], ..., in place, each result turned by its twiddle.
template <int R, bool Turn>
STENO_INLINE void butterfly(float* z, extent step, const float* w) {
  const complex16 a = load_complex(z), b = load_complex(z + step);
  if constexpr (R == 2) {
    put<Turn, 0>(z, step, a + b, w);
    put<Turn, 1>(z, step, a - b, w);
  } else if constexpr (R == 3) {
    const complex16 c = load_complex(z + 2 * step), sum = b + c;
    const complex16 middle = plus(a, broadcast(-0.5f), sum), turn = quarter(b - c);
    const f32x16 s = broadcast(0.86602540378443865f);
    put<Turn, 0>(z, step, a + sum, w);
    put<Turn, 1>(z, step, plus(middle, s, turn), w);
    put<Turn, 2>(z, step, plus(middle, zero() - s, turn), w);
  } else if constexpr (R == 4) {
    const complex16 c = load_complex(z + 2 * step), d = load_complex(z + 3 * step);
    const complex16 even = a + c, odd = a - c, sum = b + d, turn = quarter(b - d);
    put<Turn, 0>(z, step, even + sum, w);
    put<Turn, 1>(z, step, odd + turn, w);
    put<Turn, 2>(z, step, even - sum, w);
    put<Turn, 3>(z, step, odd - turn, w);
  } else {
    static_assert(R == 5);
    const complex16 c = load_complex(z + 2 * step), d = load_complex(z + 3 * step), e = load_complex(z + 4 * step);
    const complex16 outer = b + e, inner = c + d, turn_outer = quarter(b - e), turn_inner = quarter(c - d);
    const f32x16 c1 = broadcast(0.30901699437494742f), c2 = broadcast(-0.80901699437494742f);
    const f32x16 s1 = broadcast(0.95105651629515357f), s2 = broadcast(0.58778525229247313f);
    const complex16 m1 = plus(plus(a, c1, outer), c2, inner), m2 = plus(plus(a, c2, outer), c1, inner);
    const complex16 none{zero(), zero()};
    const complex16 t1 = plus(plus(none, s1, turn_outer), s2, turn_inner);
    const complex16 t2 = plus(plus(none, s2, turn_outer), zero() - s1, turn_inner);
    put<Turn, 0>(z, step, a + outer + inner, w);
    put<Turn, 1>(z, step, m1 + t1, w);
    put<Turn, 2>(z, step, m2 + t2, w);
    put<Turn, 3>(z, step, m2 - t2, w);
    put<Turn, 4>(z, step, m1 - t1, w);
  }
}

/// One stage in place: blocks of `length` values become R blocks; the first value of each needs no twiddle.
template <int R>
inline void fft_stage(float* z, extent half, extent length, const float* w) {
  const extent step = length / R;
  for (extent block = 0; block < half; block += length) butterfly<R, false>(z + 32 * block, 32 * step, w);
  for (extent p = 1; p < step; ++p)
    for (extent block = 0; block < half; block += length)
      butterfly<R, true>(z + 32 * (block + p), 32 * step, w + 2 * (R - 1) * p);
}

inline void fft_stages(const detail::fft_job& job, float* z) noexcept {
  for (int s = 0; s < job.stages; ++s) {
    const detail::fft_stage_size t = job.stage[s];
    const float* const w = job.twiddles + t.table;
    switch (t.radix) {
      case 2:
        fft_stage<2>(z, job.half, t.length, w);
        break;
      case 3:
        fft_stage<3>(z, job.half, t.length, w);
        break;
      case 4:
        fft_stage<4>(z, job.half, t.length, w);
        break;
      default:
        fft_stage<5>(z, job.half, t.length, w);
    }
  }
}

/// Transforms x [n][16] in place as n / 2 complex values and separates them into the halves of the real transform:
/// y [bins][re, im][16], or |y|^2 [bins][16] when Power.
template <bool Power>
STENO_INLINE void fft_real(const detail::fft_job& job, float* x, float* y) {
  fft_stages(job, x);
  const extent half = job.half;
  const auto put_bin = [y](extent k, complex16 a, f32x16 sign) __attribute__((always_inline)) {
    if constexpr (Power)
      store(y + 16 * k, fma(a.re, a.re, a.im * a.im));
    else
      store_complex(y + 32 * k, {a.re, a.im * sign});
  };
  const f32x16 one = broadcast(1.0f), minus = broadcast(-1.0f), halved = broadcast(0.5f);
  const complex16 first = load_complex(x);
  put_bin(0, {first.re + first.im, zero()}, one);
  put_bin(half, {first.re - first.im, zero()}, one);
  for (extent k = 1; k <= half / 2; ++k) {
    const complex16 a = load_complex(x + 32 * job.place[k]), b = load_complex(x + 32 * job.place[half - k]);
    const complex16 even{(a.re + b.re) * halved, (a.im - b.im) * halved};
    const complex16 odd = turned({(a.im + b.im) * halved, (b.re - a.re) * halved}, job.separate + 2 * k);
    put_bin(half - k, even - odd, minus);
    put_bin(k, even + odd, one);
  }
}

inline void fft_forward(const detail::fft_job& job, float* x, float* y) noexcept { fft_real<false>(job, x, y); }
inline void fft_power(const detail::fft_job& job, float* x, float* y) noexcept { fft_real<true>(job, x, y); }
