// One chunk of a causal U2 conformer: 16 frames with 64 cached, 12 layers, one thread; 256 wide (48 M parameters with
// its decoders) and 512 wide. The figure to look at is ms per chunk, which is 640 ms of audio.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/models/u2.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "model_work.hpp"

using namespace steno;

namespace {

template <extent D, extent Heads, extent Taps>
using encoder = nn::u2_conformer_encoder<nn::u2_encoder_sizes{.features = 80,
                                                              .subsampling = 4,
                                                              .width = D,
                                                              .heads = Heads,
                                                              .units = 2048,
                                                              .taps = Taps,
                                                              .layers = 12,
                                                              .relative = 1,
                                                              .causal = 1,
                                                              .normed = 1}>;

template <extent D, extent Heads, extent Taps>
void chunk(benchmark::State& state, dtype format) {
  constexpr extent size = 16, left = 64, units = 4233;
  weights::storage keep;
  const auto model = std::make_unique<encoder<D, Heads, Taps>>();
  const auto ctc = std::make_unique<nn::linear<D, units>>();
  weights::randomise(*model, keep, 1, format);
  weights::randomise(*ctc, keep, 2, format);
  core::walk(*model, [](const std::string& name, auto& leaf, bool) {
    if constexpr (core::setting_leaf<std::remove_cvref_t<decltype(leaf)>>) {
      if (name == "relative_positions") leaf.adopt(1);
      if (name == "activation") leaf.adopt(static_cast<extent>(kernels::activation::silu));
    }
  });
  models::keep_weights(*model, nullptr, keep, {});
  models::keep_weights(*ctc, nullptr, keep, {});
  context c;
  auto caches = model->start();
  const matrix<float, dynamic, dynamic> x = matrix<float, dynamic, dynamic>::Random((size - 1) * 4 + 7, 80);
  matrix<float, dynamic, dynamic> y(size, D), p(size, units);
  // per frame: two half feed-forwards, attention's four (position's fifth), the convolution's three; the head; and the
  // subsampling's second convolution and projection
  const double frame = 12.0 * (4 * D * 2048 + 5 * D * D + 3 * D * D) + D * units + 19.0 * D * (9 * D + D);
  const double attention = 12.0 * size * (size + left) * D * 6;
  steno_bench::measure(state, steno_bench::layer_work(2 * size * frame, attention, format, 0.64), [&] {
    (*model)(core::as<const float, dynamic, 80>(x), core::as<float, dynamic, D>(y), &caches, nn::u2_env{.keep = left},
             c);
    nn::apply(*ctc, core::as<const float, dynamic, D>(y), core::as<float, dynamic, units>(p), c);
    kernels::log_softmax(core::read(p), core::write(p), c.run);
  });
}

constexpr auto narrow = chunk<256, 4, 8>;
constexpr auto wide = chunk<512, 8, 15>;

}  // namespace

BENCHMARK_CAPTURE(narrow, q8_0, dtype::q8_0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(narrow, q8_128, dtype::q8_128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(narrow, f32, dtype::f32)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wide, q8_0, dtype::q8_0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wide, q8_128, dtype::q8_128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wide, f32, dtype::f32)->Unit(benchmark::kMillisecond);
