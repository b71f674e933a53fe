// steno/kernels/generic/log_mel.inl - 16 frames at once, one per lane; compiled per instruction set by log_mel.hpp.
// SPDX-License-Identifier: Apache-2.0

/// Natural logarithm of positive normal numbers: x = 2^e m with m in [sqrt(1/2), sqrt(2)), ln x = e ln 2 + ln m, and
/// ln m = 2 artanh(s) with s = (m - 1) / (m + 1), by its series to s^9 (|s| < 0.1716: the next term is below 3e-9).
/// Plain loop: integers of the bits are not part of the vector interface, compilers vectorise it.
STENO_INLINE void log_16(float* x) {
  for (int i = 0; i < 16; ++i) {
    const std::uint32_t bits = core::bit_cast<std::uint32_t>(x[i]) - 0x3f3504f3u;  // sqrt(1/2)
    const float e = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
    const float m = core::bit_cast<float>((bits & 0x007fffffu) + 0x3f3504f3u);
    const float f = m - 1.0f, s = f / (m + 1.0f), z = s * s;
    // ln m = f - s (f - z P(z)) with P of the series 2 (z / 3 + z^2 / 5 + ..): f itself is exact
    const float p = z * (0.666666667f + z * (0.4f + z * (0.285714286f + z * 0.222222222f)));
    x[i] = e * 0.693145752f + (f - s * (f - p) + e * 1.42860677e-06f);
  }
}

/// Frames t .. t + 15 of raw samples, framed as `job` says, to x [size][16]; lanes from `count` on repeat the last.
inline void frames_to_lanes(const detail::framing& job, const float* raw, int count, float* x) noexcept {
  const f32x16 scale = broadcast(job.scale), limit = broadcast(detail::framing::limit);
  f32x16 sum0 = zero(), sum1 = zero();
  for (extent i = 0; i < job.length; i += 16) {
    alignas(64) float block[16][16];
    const int n = static_cast<int>(std::min<extent>(16, job.length - i));
    for (int lane = 0; lane < 16; ++lane) {
      const f32x16 v = load_n(raw + std::min(lane, count - 1) * job.shift + i, n) * scale;
      store(block[lane], where_less(abs(v), limit, v, zero()));
    }
    float* const to = x + 16 * i;
    if (n == 16)
      transpose(block[0], 16, to, 16);
    else
      for (int k = 0; k < n; ++k)
        for (int lane = 0; lane < 16; ++lane) to[16 * k + lane] = block[lane][k];
    for (int k = 0; k < n; k += 2) {
      sum0 = sum0 + load(to + 16 * k);
      if (k + 1 < n) sum1 = sum1 + load(to + 16 * (k + 1));
    }
  }
  const f32x16 mean = job.remove_dc ? (sum0 + sum1) / broadcast(static_cast<float>(job.length)) : zero();
  const f32x16 c = broadcast(job.preemphasis);
  f32x16 before = load(x) - mean;
  for (extent i = 0; i < job.length; ++i) {
    const f32x16 now = load(x + 16 * i) - mean;
    store(x + 16 * i, (now - c * before) * broadcast(job.window[i]));
    before = now;
  }
  for (extent i = job.length; i < job.size; ++i) store(x + 16 * i, zero());
}

/// y[lane][b] = ln(max(sum_k weights[b][k] p[first[b] + k][lane], floor) + add) for lane < count, without the logarithm
/// where the job says so; work: [mels][16].
inline void log_mel_of_lanes(const detail::mel_job& job, const float* p, int count, float* y, extent stride,
                             float* work) noexcept {
  const f32x16 floor = broadcast(job.floor), more = broadcast(job.add);
  for (extent b = 0; b < job.mels; ++b) {
    const float* from = p + 16 * job.first[b];
    f32x16 sum = zero();
    for (extent k = job.begin[b]; k < job.begin[b + 1]; ++k, from += 16)
      sum = fma(broadcast(job.weights[k]), load(from), sum);
    store(work + 16 * b, max(sum, floor) + more);
    if (job.logarithm) log_16(work + 16 * b);
  }
  extent b = 0;
  if (count == 16)
    for (; b + 16 <= job.mels; b += 16) transpose(work + 16 * b, 16, y + b, stride);
  for (; b < job.mels; ++b)
    for (int lane = 0; lane < count; ++lane) y[lane * stride + b] = work[16 * b + lane];
}
