// steno/kernels/isa/math.inl - functions of f32x16 made of its primitives; included by each instruction set, so that
// the operations and their order are the same everywhere. Coefficients: minimax fits of our own (Lawson's algorithm).
// Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0

/// e^x for x below 88.72 (softmax: x <= 0): n = round(x / ln 2), e^x = 2^n * e^r with |r| <= ln 2 / 2 and
/// e^r = 1 + r + r^2 P(r). 0 below -87.3 (results under 1.2e-38 would be subnormal). Error <= 1.5 ulp.
STENO_INLINE f32x16 exp_bounded(f32x16 x) {
  const f32x16 magic = broadcast(0x1.8p23f);  // adding it rounds to an integer that stands in the low bits
  const f32x16 shifted = fma(x, broadcast(0x1.715476p+0f), magic);
  const f32x16 n = shifted - magic;
  f32x16 r = fnma(n, broadcast(0x1.63p-1f), x);  // ln 2 in two parts; the first has 9 bits: n times it is exact
  r = fnma(n, broadcast(-0x1.bd0106p-13f), r);
  f32x16 p = fma(broadcast(1.381417407e-03f), r, broadcast(8.368921880e-03f));
  p = fma(p, r, broadcast(4.166840798e-02f));
  p = fma(p, r, broadcast(1.666651894e-01f));
  p = fma(p, r, broadcast(4.999999333e-01f));
  p = fma(p, r * r, r) + broadcast(1.0f);
  return where_less(x, broadcast(-87.3f), zero(), times_power_of_two(p, shifted));
}

/// e^x for all x: infinity above 88.7228, 0 below -87.3, NaN stays NaN. Error <= 1.5 ulp elsewhere.
STENO_INLINE f32x16 exp(f32x16 x) {
  return where_less(broadcast(88.722835f), x, broadcast(__builtin_huge_valf()), exp_bounded(x));
}
