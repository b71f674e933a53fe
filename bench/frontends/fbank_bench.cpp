// 30 s of 16 kHz audio through the filterbank and FunASR's whole front end, per FFT policy and for its three parts.
// Operations of the transforms are the textbook's 2.5 n log2 n.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/wav_frontend.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "measure.hpp"

namespace {

using steno::extent;
constexpr extent length = 480000;

std::vector<float> audio() {
  std::vector<float> x(static_cast<std::size_t>(length));
  std::uint32_t s = 1;
  for (float& v : x) v = static_cast<float>((s = s * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
  return x;
}
constexpr double seconds = 30, windows = 2998;
/// A transform of n real values, 2.5 n log2 n operations.
double transform_ops(double n) { return windows * 2.5 * n * std::log2(n); }

template <class F>
void whole(benchmark::State& state) {
  const F f;
  const std::vector<float> pcm = audio();
  const extent rows = f.rows(length);
  std::vector<float> y(static_cast<std::size_t>(rows * f.width()));
  steno::context c;
  // framing and window 6 per value, transform, power 3 per bin, two overlapping filters per bin
  const double flops = windows * (400 * 6 + 257 * (3 + 4)) + transform_ops(512);
  steno_bench::measure(state, {.flops = flops, .audio = seconds},
                       [&] { f(pcm, steno::core::make_view(y.data(), rows, f.width()), c); });
}

void framing(benchmark::State& state) {
  const std::vector<float> pcm = audio(), window(400, 1.0f);
  std::vector<float> x(512 * 16);
  steno_bench::measure(state, {.flops = windows * 400 * 6, .audio = seconds}, [&] {
    for (extent t = 0; t < 2992; t += 16)
      steno::kernels::frames_to_lanes({400, 160, 512, 32768, 0.97f, true, window.data()}, pcm.data() + 160 * t, 16,
                                      x.data());
  });
}
template <class F>
void transform(benchmark::State& state) {
  const F f(static_cast<extent>(state.range(0)));
  std::vector<float> x(static_cast<std::size_t>(16 * f.size())), p(static_cast<std::size_t>(16 * f.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(f.scratch()));
  const double n = static_cast<double>(f.size());
  steno_bench::measure(state, {.flops = transform_ops(n) + windows * 1.5 * n, .audio = seconds}, [&] {
    for (extent t = 0; t < 2992; t += 16) f.power(x.data(), p.data(), scratch.data());
  });
}
void log_mel(benchmark::State& state) {
  const steno::frontends::mel_filters m = steno::frontends::mel_filters::kaldi(80, 512, 16000, 20, 0);
  std::vector<float> p(257 * 16, 1.0f), y(80 * 16), work(80 * 16);
  steno_bench::measure(state, {.flops = windows * 257 * 4, .audio = seconds}, [&] {
    for (extent t = 0; t < 2992; t += 16)
      steno::kernels::log_mel_of_lanes({80, m.first.data(), m.begin.data(), m.weights.data(), 1e-7f}, p.data(), 16,
                                       y.data(), 80, work.data());
  });
}

BENCHMARK(whole<steno::frontends::fbank<80, steno::kernels::real_fft_lanes>>)->Unit(benchmark::kMillisecond);
#if defined(STENO_FFT_FFTW)
BENCHMARK(whole<steno::frontends::fbank<80, steno::kernels::real_fft_fftw>>)->Unit(benchmark::kMillisecond);
#endif
BENCHMARK(whole<steno::frontends::wav_frontend<>>)->Unit(benchmark::kMillisecond);
BENCHMARK(framing)->Unit(benchmark::kMillisecond);
BENCHMARK(transform<steno::kernels::real_fft_lanes>)->Unit(benchmark::kMillisecond)->Arg(512)->Arg(400);
#if defined(STENO_FFT_FFTW)
BENCHMARK(transform<steno::kernels::real_fft_fftw>)->Unit(benchmark::kMillisecond)->Arg(512)->Arg(400);
#endif
BENCHMARK(log_mel)->Unit(benchmark::kMillisecond);

}  // namespace
