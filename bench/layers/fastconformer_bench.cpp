// One FastConformer layer at the size of the 0.6b models (1024 wide, 8 heads, 4096 inner, 9 taps, distances in the
// scores), 250 rows = 20 s of audio: the row "FastConformer" of docs/measurements/kernels.md.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include "model_work.hpp"

namespace {

using namespace steno;

void fastconformer_layer(benchmark::State& state, dtype format) {
  constexpr extent D = 1024, inner = 4096, frames = 250;
  nn::fastconformer_block<D, 8, inner, 9, 0, 0, nn::bias::none> layer;
  weights::storage keep;
  weights::randomise(layer, keep, 1, format);
  models::keep_weights(layer, nullptr, keep, {});
  context c;
  const matrix<float, dynamic, D> x = matrix<float, dynamic, D>::Random(frames, D);
  matrix<float, dynamic, dynamic> positions(2 * frames - 1, D);
  matrix<float, dynamic, D> y(frames, D);
  nn::write_positions(frames - 1, positions, c, -1);
  const nn::env_with_distances<nn::no_env> env{{}, {.rows = core::read(positions), .farthest = frames - 1}};
  // two feed-forwards, attention's four and its distances, the convolution's three
  const double products = 2.0 * (frames * (4.0 * D * inner + 4 * D * D + 3 * D * D) + (2 * frames - 1) * D * D);
  const double attention = 2.0 * frames * frames * D * 3;
  steno_bench::measure(state, steno_bench::layer_work(products, attention, format),
                       [&] { layer(x, y, nullptr, env, c); });
}

}  // namespace

BENCHMARK_CAPTURE(fastconformer_layer, f32, steno::dtype::f32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fastconformer_layer, q8_0, steno::dtype::q8_0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fastconformer_layer, bf16_a16, steno::dtype::bf16_a16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fastconformer_layer, q8_128, steno::dtype::q8_128)->Unit(benchmark::kMillisecond);
