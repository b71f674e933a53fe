// steno/kernels/product/quantise.inl - rows of x into int8 panels; compiled per instruction set.
//
// A piece of a row at a time that stays in the first cache, in four sweeps, so that scales and sums are computed for 16
// blocks at once.
// SPDX-License-Identifier: Apache-2.0

inline void quantise(const detail::quantise_job& job) noexcept {
  constexpr extent step = 64, size = detail::block;
  const f32x16 full = broadcast(127.0f), least = broadcast(0x1p-100f);
  alignas(64) float largest[step] = {}, inverse[step], first[step] = {}, second[step] = {};
  for (extent r = 0; r < job.rows; ++r)
    for (extent b0 = 0; b0 < job.blocks; b0 += step) {
      const extent count = std::min(step, job.blocks - b0), at = (b0 * job.rows + 16 * r), next = 16 * job.rows;
      const float* const x = job.x + r * job.stride + b0 * size;
      std::int8_t* const quants = job.quants + (b0 * job.rows + r) * size;
      for (extent b = 0; b < count; ++b)
        largest[b] = reduce_max(max(abs(load(x + b * size)), abs(load(x + b * size + 16))));
      for (extent b = 0; b < count; b += 16) {
        const f32x16 magnitude = load(largest + b);
        store(inverse + b, where_less(least, magnitude, full / magnitude, zero()));
        store(job.scales + at + b / 16 * next, where_less(least, magnitude, magnitude / full, zero()));
      }
      for (extent b = 0; b < count; ++b) {
        const f32x16 times = broadcast(inverse[b]);
        store_i8(quants + b * job.rows * size, load(x + b * size) * times, load(x + b * size + 16) * times);
      }
      const auto block = [&](extent b) { return quants + std::min(b, count - 1) * job.rows * size; };
      for (extent b = 0; b < count; b += 4)
        sums_i8(block(b), block(b + 1), block(b + 2), block(b + 3), first + b, second + b);
      for (extent b = 0; b < count; b += 16) {
        const extent to = at + b / 16 * next;
        const f32x16 scale = load(job.scales + to), one = load(first + b), two = load(second + b);
        const f32x16 sums[] = {one + two, one, two};
        for (int i = 0; i < 3; ++i) {
          store(job.starts + to + i * job.plane, fnma(sums[i], broadcast(128.0f), broadcast(job.origin)));
          store(job.offsets + to + i * job.plane, scale * sums[i]);
        }
      }
    }
}
