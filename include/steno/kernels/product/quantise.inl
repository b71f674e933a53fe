// steno/kernels/product/quantise.inl - rows of x into int8 panels; compiled per instruction set.
//
// A piece of a row at a time that stays in the first cache, in four sweeps, so that scales and sums are computed for 16
// blocks, or spans of them, at once.
// SPDX-License-Identifier: Apache-2.0

template <extent Span>
void quantise_spans(const detail::quantise_job& job) noexcept {
  constexpr extent step = 64, size = detail::block;
  // Block b of a row lies at b * next, but the second of a pair beside the first.
  const extent next = job.rows * size, back = job.paired ? next - size : 0, width = job.paired ? 2 * size : size;
  const f32x16 full = broadcast(127.0f), least = broadcast(0x1p-100f);
  alignas(64) float largest[step] = {}, inverse[step], first[step] = {}, second[step] = {};
  for (extent r = 0; r < job.rows; ++r)
    for (extent b0 = 0; b0 < job.blocks; b0 += step) {
      const extent count = std::min(step, job.blocks - b0), scales = count / Span;
      const extent at = b0 / Span * job.rows + 16 * r, next_line = 16 * job.rows;
      const float* const x = job.x + r * job.stride + b0 * size;
      std::int8_t* const row = job.quants + b0 * next + r * width;
      const auto quants = [&](extent b) { return row + b * next - b % 2 * back; };
      for (extent s = 0; s < scales; ++s) {
        f32x16 all = zero();
        for (extent b = s * Span; b < (s + 1) * Span; ++b)
          all = max(all, max(abs(load(x + b * size)), abs(load(x + b * size + 16))));
        largest[s] = reduce_max(all);
      }
      for (extent s = 0; s < scales; s += 16) {
        const f32x16 magnitude = load(largest + s);
        store(inverse + s, where_less(least, magnitude, full / magnitude, zero()));
        store(job.scales + at + s / 16 * next_line, where_less(least, magnitude, magnitude / full, zero()));
      }
      for (extent b = 0; b < count; ++b) {
        const f32x16 times = broadcast(inverse[b / Span]);
        store_i8(quants(b), load(x + b * size) * times, load(x + b * size + 16) * times);
      }
      const auto block = [&](extent b) { return quants(std::min(b, count - 1)); };
      for (extent b = 0; b < count; b += 4)
        sums_i8(block(b), block(b + 1), block(b + 2), block(b + 3), first + b, second + b);
      if constexpr (Span > 1)
        for (extent s = 0; s < scales; ++s) {
          float sum = 0;
          for (extent b = s * Span; b < (s + 1) * Span; ++b) sum += first[b] + second[b];
          first[s] = sum;
        }
      for (extent s = 0; s < scales; s += 16) {
        const extent to = at + s / 16 * next_line;
        const f32x16 scale = load(job.scales + to), one = load(first + s), two = load(second + s);
        const f32x16 sums[] = {Span == 1 ? one + two : one, one, two};
        for (int i = 0; i < (Span == 1 ? 3 : 1); ++i) {
          store(job.starts + to + i * job.plane, fnma(sums[i], broadcast(128.0f), broadcast(job.origin)));
          store(job.offsets + to + i * job.plane, scale * sums[i]);
        }
      }
    }
}
template <class = void>
void quantise(const detail::quantise_job& job) noexcept {
  job.span == 1 ? quantise_spans<1>(job) : quantise_spans<detail::long_span>(job);
}
