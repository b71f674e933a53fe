// One SAN-M layer at the published sizes (512 wide, 4 heads, 2048 inner, 11 taps): the row "SAN-M" of
// docs/measurements/kernels.md.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include "model_work.hpp"

namespace {

using namespace steno;

void sanm_layer(benchmark::State& state, dtype format) {
  using layer_type = nn::sanm_block<512, 512, 4, 2048, 11>;
  const extent frames = state.range(0);
  layer_type layer;
  weights::storage keep;
  weights::randomise(layer, keep, 1, format);
  models::keep_weights(layer, nullptr, keep, {});
  std::vector<float> x(static_cast<std::size_t>(frames * 512));
  weights::random_numbers next(2);
  for (float& v : x) v = next();
  std::vector<float> y(x.size());
  context c;
  const auto in = core::make_view<dynamic, 512>(static_cast<const float*>(x.data()), frames, 512);
  auto out = core::make_view<dynamic, 512>(y.data(), frames, 512);
  const double products = 2.0 * static_cast<double>(frames) * 512 * (3 * 512 + 512 + 2 * 2048);
  const double attention = 4.0 * static_cast<double>(frames * frames) * 512;
  steno_bench::measure(state, steno_bench::layer_work(products, attention, format),
                       [&] { nn::apply(layer, in, out, c); });
}

}  // namespace

BENCHMARK_CAPTURE(sanm_layer, f32, steno::dtype::f32)->Arg(100)->Arg(187)->Arg(500)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanm_layer, f16, steno::dtype::f16)->Arg(100)->Arg(500)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanm_layer, bf16_a16, steno::dtype::bf16_a16)->Arg(100)->Arg(500)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanm_layer, q8_0, steno::dtype::q8_0)->Arg(100)->Arg(187)->Arg(500)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sanm_layer, q8_128, steno::dtype::q8_128)->Arg(100)->Arg(500)->Unit(benchmark::kMillisecond);
