// steno/kernels/product/quantise.inl - rows of x into int8 panels; compiled per instruction set.
//
// A line of scales (16 blocks, or spans of them) of a few rows at a time, which stay in the first cache, in sweeps.
// What one leaves in memory value by value, the next reads as vectors: other rows lie between, as a processor cannot
// hand on several stores to one load. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0

/// What the sweeps leave for each other, of a row.
template <extent Span>
struct quantised_line {
  static constexpr std::size_t blocks = 16 * Span;
  alignas(64) float largest[16], inverse[16], first[blocks], second[blocks];
};

template <extent Span>
void quantise_spans(const detail::quantise_job& job) noexcept {
  constexpr extent size = detail::block, step = 16 * Span, max_rows = 8;
  // Block b of a row lies at b * next, but the second of a pair beside the first.
  const extent next = job.rows * size, back = job.paired ? next - size : 0, width = job.paired ? 2 * size : size;
  const f32x16 full = broadcast(127.0f), least = broadcast(0x1p-100f);
  quantised_line<Span> lines[max_rows];
  for (extent b0 = 0; b0 < job.blocks; b0 += step) {
    const extent count = std::min(step, job.blocks - b0), scales = count / Span;
    const extent at_once = std::min(max_rows, 16 * max_rows / count);
    for (extent r0 = 0; r0 < job.rows; r0 += at_once) {
      const extent rows = std::min(at_once, job.rows - r0), at = b0 / Span * job.rows + 16 * r0;
      const float* const x = job.x + r0 * job.stride + b0 * size;
      std::int8_t* const quants = job.quants + b0 * next + r0 * width;
      for (extent r = 0; r < rows; ++r) {
        for (float* const unfilled : {lines[r].largest, lines[r].first, lines[r].second}) store(unfilled, zero());
        const float* from = x + r * job.stride;
        for (extent s = 0; s < scales; ++s, from += Span * size) {
          f32x16 all = max(abs(load(from)), abs(load(from + 16)));
          for (extent i = 32; i < Span * size; i += 16) all = max(all, abs(load(from + i)));
          lines[r].largest[s] = reduce_max(all);
        }
      }
      for (extent r = 0; r < rows; ++r) {
        const f32x16 magnitude = load(lines[r].largest);
        store(lines[r].inverse, where_less(least, magnitude, full / magnitude, zero()));
        store(job.scales + at + 16 * r, where_less(least, magnitude, magnitude / full, zero()));
      }
      for (extent r = 0; r < rows; ++r) {
        const float* from = x + r * job.stride;
        std::int8_t* to = quants + r * width;
        for (extent b = 0, turn = back; b < count; ++b, from += size, to += next - turn, turn = -turn) {
          const f32x16 times = broadcast(lines[r].inverse[b / Span]);
          store_i8(to, load(from) * times, load(from + 16) * times);
        }
      }
      for (extent r = 0; r < rows; ++r) {
        quantised_line<Span>& line = lines[r];
        const auto block = [&](extent b) {
          b = std::min(b, count - 1);
          return quants + r * width + b * next - b % 2 * back;
        };
        for (extent b = 0; b < count; b += 4)
          sums_i8(block(b), block(b + 1), block(b + 2), block(b + 3), line.first + b, line.second + b);
        if constexpr (Span > 1)
          for (extent s = 0; s < scales; ++s) {
            float sum = 0;
            for (extent b = s * Span; b < (s + 1) * Span; ++b) sum += line.first[b] + line.second[b];
            line.first[s] = sum;
          }
      }
      for (extent r = 0; r < rows; ++r) {
        const extent to = at + 16 * r;
        const f32x16 scale = load(job.scales + to), one = load(lines[r].first), two = load(lines[r].second);
        const f32x16 sums[] = {Span == 1 ? one + two : one, one, two};
        for (int i = 0; i < (Span == 1 ? 3 : 1); ++i) {
          store(job.starts + to + i * job.plane, fnma(sums[i], broadcast(128.0f), broadcast(job.origin)));
          store(job.offsets + to + i * job.plane, scale * sums[i]);
        }
      }
    }
  }
}
template <class = void>
void quantise(const detail::quantise_job& job) noexcept {
  job.span == 1 ? quantise_spans<1>(job) : quantise_spans<detail::long_span>(job);
}
