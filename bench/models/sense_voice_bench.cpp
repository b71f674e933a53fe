// SenseVoiceSmall at full size with random weights, 30 s of audio: front end, encoder, head, everything.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <cmath>

#include "model_work.hpp"
#include "thread_counts.hpp"

namespace {

using namespace steno;

void sense_voice_forward(benchmark::State& state, dtype format) {
  funasr::sense_voice_small model;
  weights::randomise(model, model.storage.owned, 1, format);
  models::keep_weights(model, nullptr, model.storage.owned, {});
  std::vector<float> pcm(static_cast<std::size_t>(state.range(0)) * 16000);
  weights::random_numbers next(3);
  for (std::size_t i = 0; i < pcm.size(); ++i)
    pcm[i] = 0.3f * std::sin(static_cast<float>(i % 16000) * 0.05f) + 0.1f * next();
  thread_pool pool(static_cast<int>(state.range(1)));
  context c{executor(pool)};
  const extent rows = model.frames(static_cast<extent>(pcm.size()));
  matrix<float, dynamic, dynamic> scores(rows, 25055);
  const double t = static_cast<double>(rows);
  const double products = 70 * 2 * t * 512 * (3 * 512 + 512 + 2 * 2048) + 2 * t * 512 * 25055;
  const double attention = 70 * 4 * t * t * 512;
  steno_bench::measure(state,
                       steno_bench::layer_work(products, attention, format, static_cast<double>(state.range(0)),
                                               static_cast<int>(state.range(1))),
                       [&] { model.forward(pcm, 0, false, scores, c); });
  if (context one; pool.width() > 1)
    steno_bench::measure_speedup(
        state, [&] { model.forward(pcm, 0, false, scores, one); }, [&] { model.forward(pcm, 0, false, scores, c); });
  state.counters["scratch MB"] = static_cast<double>(c.scratch.peak()) / 1e6;
}

void of_30_s(benchmark::internal::Benchmark* b) {
  for (const int threads : steno_bench::thread_counts()) b->Args({30, threads});
}

}  // namespace

BENCHMARK_CAPTURE(sense_voice_forward, f32, steno::dtype::f32)
    ->Apply(of_30_s)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(sense_voice_forward, f16, steno::dtype::f16)
    ->Args({30, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(sense_voice_forward, q8_0, steno::dtype::q8_0)
    ->Args({6, 1})
    ->Apply(of_30_s)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(sense_voice_forward, q8_128, steno::dtype::q8_128)
    ->Args({30, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
