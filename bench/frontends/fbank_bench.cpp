// 30 s of 16 kHz audio through the filterbank and FunASR's whole front end, per FFT policy and for its three parts.
// Counters: rtf = computing time / audio time.
#include <steno/frontends/wav_frontend.hpp>

#include <benchmark/benchmark.h>

#include <vector>

namespace {

using steno::extent;
constexpr extent length = 480000;

std::vector<float> audio() {
  std::vector<float> x(static_cast<std::size_t>(length));
  std::uint32_t s = 1;
  for (float& v : x) v = static_cast<float>((s = s * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
  return x;
}
void report(benchmark::State& state) {
  state.counters["rtf"] = benchmark::Counter(30.0 * static_cast<double>(state.iterations()),
                                             benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class F>
void whole(benchmark::State& state) {
  const F f;
  const std::vector<float> pcm = audio();
  const extent rows = f.rows(length);
  std::vector<float> y(static_cast<std::size_t>(rows * f.width()));
  steno::context c;
  for (auto _ : state) {
    f(pcm, steno::make_view(y.data(), rows, f.width()), c);
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

void framing(benchmark::State& state) {
  const std::vector<float> pcm = audio(), window(400, 1.0f);
  std::vector<float> x(512 * 16);
  for (auto _ : state)
    for (extent t = 0; t < 2992; t += 16)
      steno::kernels::frames_to_lanes({400, 160, 512, 32768, 0.97f, true, window.data()}, pcm.data() + 160 * t, 16,
                                      x.data());
  report(state);
}
template <class F>
void transform(benchmark::State& state) {
  const F f(static_cast<extent>(state.range(0)));
  std::vector<float> x(static_cast<std::size_t>(16 * f.size())), p(static_cast<std::size_t>(16 * f.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(f.scratch()));
  for (auto _ : state)
    for (extent t = 0; t < 2992; t += 16) f.power(x.data(), p.data(), scratch.data());
  report(state);
}
void log_mel(benchmark::State& state) {
  const steno::mel_filters m = steno::mel_filters::kaldi(80, 512, 16000, 20, 0);
  std::vector<float> p(257 * 16, 1.0f), y(80 * 16), work(80 * 16);
  for (auto _ : state)
    for (extent t = 0; t < 2992; t += 16)
      steno::kernels::log_mel_of_lanes({80, m.first.data(), m.begin.data(), m.weights.data(), 1e-7f}, p.data(), 16,
                                       y.data(), 80, work.data());
  report(state);
}

BENCHMARK(whole<steno::fbank<80>>)->Unit(benchmark::kMillisecond);
#if !defined(STENO_FFT_EIGEN)
BENCHMARK(whole<steno::fbank<80, steno::kernels::real_fft_fftw>>)->Unit(benchmark::kMillisecond);
#endif
BENCHMARK(whole<steno::wav_frontend<>>)->Unit(benchmark::kMillisecond);
BENCHMARK(framing)->Unit(benchmark::kMillisecond);
BENCHMARK(transform<steno::kernels::real_fft_lanes>)->Unit(benchmark::kMillisecond)->Arg(512)->Arg(400);
#if !defined(STENO_FFT_EIGEN)
BENCHMARK(transform<steno::kernels::real_fft_fftw>)->Unit(benchmark::kMillisecond)->Arg(512)->Arg(400);
#endif
BENCHMARK(log_mel)->Unit(benchmark::kMillisecond);

}  // namespace
