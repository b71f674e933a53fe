// Paraformer-large at full size with random weights, 30 s of audio: encoder, and decoder with four tokens a second.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <memory>

#include "model_work.hpp"

namespace {

using namespace steno;

constexpr extent frames = 500, tokens = 120, width = 512;

matrix<float, dynamic, dynamic> noise(extent rows, extent cols) {
  matrix<float, dynamic, dynamic> m(rows, cols);
  weights::random_numbers next(3);
  for (extent i = 0; i < m.size(); ++i) m.data()[i] = next();
  return m;
}

template <class Network>
std::unique_ptr<Network> random_network(weights::storage& keep, dtype format) {
  auto n = std::make_unique<Network>();
  weights::randomise(*n, keep, 1, format);
  models::keep_weights(*n, nullptr, keep, {});
  return n;
}

void paraformer_encoder(benchmark::State& state, dtype format) {
  weights::storage keep;
  const auto encoder = random_network<nn::sanm_main_encoder<nn::sanm_sizes{
      .features = 560, .width = width, .heads = 4, .units = 2048, .taps = 11, .blocks = 49}>>(keep, format);
  thread_pool pool(static_cast<int>(state.range(0)));
  context c{executor(pool)};
  const auto x = noise(frames, 560);
  matrix<float, dynamic, dynamic> y(frames, width);
  const double t = frames, products = 50 * 2 * t * width * (4 * width + 2 * 2048), attention = 50 * 4 * t * t * width;
  steno_bench::measure(
      state, steno_bench::layer_work(products, attention, format, 30, static_cast<int>(state.range(0))),
      [&] { nn::apply(*encoder, core::as<const float, dynamic, 560>(x), core::as<float, dynamic, width>(y), c); });
}

void paraformer_decoder(benchmark::State& state, dtype format) {
  weights::storage keep;
  const auto decoder = random_network<nn::sanm_decoder<nn::sanm_decoder_sizes{
      .width = width, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}>>(keep, format);
  thread_pool pool(static_cast<int>(state.range(0)));
  context c{executor(pool)};
  const auto x = noise(tokens, width), encoded = noise(frames, width);
  matrix<float, dynamic, dynamic> scores(tokens, 8404);
  const double n = tokens, t = frames;
  const double layer = 2 * n * width * (2 * 2048 + 2 * width) + 2 * t * width * 2 * width;
  const double products = 16 * layer + 2 * n * width * (2 * 2048 + 8404), attention = 16 * 4 * n * t * width;
  steno_bench::measure(
      state, steno_bench::layer_work(products, attention, format, 30, static_cast<int>(state.range(0))), [&] {
        core::workspace::frame scratch(c.scratch);
        const nn::sanm_decoder_env env{.encoded = nn::prepare_encoded(*decoder, core::read(encoded), scratch, c.run)};
        (*decoder)(core::as<const float, dynamic, width>(x), core::as<float, dynamic, 8404>(scores), nullptr, env, c);
      });
}

}  // namespace

BENCHMARK_CAPTURE(paraformer_encoder, f16, steno::dtype::f16)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(paraformer_encoder, q8_0, steno::dtype::q8_0)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(paraformer_decoder, f16, steno::dtype::f16)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(paraformer_decoder, q8_0, steno::dtype::q8_0)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
