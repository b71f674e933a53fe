// tests/kernels/isa_probe.inl - each vector primitive over arrays, compiled once per instruction set for isa_test.cpp.
// Every function reads and writes 16 values at a time; `op` chooses.
// SPDX-License-Identifier: Apache-2.0

inline void probe_binary(int op, const float* a, const float* b, float* y) noexcept {
  const f32x16 p = load(a), q = load(b);
  f32x16 r = zero();
  if (op == 0) r = p + q;
  if (op == 1) r = p - q;
  if (op == 2) r = p * q;
  if (op == 3) r = p / q;
  if (op == 4) r = min(p, q);
  if (op == 5) r = max(p, q);
  if (op == 6) r = where_less(p, q, broadcast(1.0f), broadcast(2.0f));
  if (op == 7) r = with_sign(abs(p), q);
  if (op == 8) r = fma(p, q, broadcast(0.75f));
  if (op == 9) r = fnma(p, q, broadcast(0.75f));
  store(y, r);
}
inline void probe_exp(const float* x, float* y, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i += 16) store(y + i, exp(load(x + i)));
}
inline void probe_partial(const float* x, float* y, int n) noexcept {
  store_n(y, load_n(x, n), n);
  store(y + 32, load_n(x, n));
  store(y + 48, first_n(n, load_n(x, n), broadcast(0.5f)));
}
inline void probe_reduce(const float* x, float* y) noexcept {
  y[0] = reduce_add(load(x));
  y[1] = reduce_max(load(x));
}
inline void probe_half(const std::uint16_t* x, float* f16, float* bf16, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i += 16) {
    store(f16 + i, load_f16(x + i));
    store(bf16 + i, load_bf16(x + i));
  }
}
inline void probe_i8(const float* x, std::int8_t* y) noexcept { store_i8(y, load(x)); }
inline void probe_pair_i8(const float* x, std::int8_t* y) noexcept { store_i8(y, load(x), load(x + 16)); }
inline void probe_sums(const std::int8_t* x, float* first, float* second) noexcept {
  sums_i8(x, x + 40, x + 80, x + 120, first, second);
}
inline void probe_transpose(const float* x, float* y) noexcept { transpose(x, 21, y, 18); }
