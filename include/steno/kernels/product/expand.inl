// steno/kernels/product/expand.inl - full expansion of small loops, and the way from sums to stored results; included by
// the kernels of each instruction set.

/// f(integral_constant<int, 0>) ... f(integral_constant<int, N - 1>), expanded: g++ 12 keeps arrays of accumulators in
/// registers then, but spills them under an unroll pragma.
template <int N, class F>
STENO_INLINE void each(F f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}
consteval std::size_t many(int n) { return static_cast<std::size_t>(n); }
