// Depthwise convolution of [T, 512] with 11 taps (SAN-M) and 9 of [T, 1024] (FastConformer); two operations per tap.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/depthwise.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

void run(benchmark::State& state, extent cols, extent count) {
  const steno_bench::random_rows x(state.range(0), cols), taps(count, cols);
  steno_bench::random_rows y(state.range(0), cols);
  const double n = static_cast<double>(x.values.size());
  steno_bench::measure(state, {.flops = 2 * n * static_cast<double>(count), .bytes = 8 * n},
                       [&] { kernels::depthwise(x.in(), taps.values.data(), count, (count - 1) / 2, y.out(), {}); });
}
void depthwise_sanm(benchmark::State& state) { run(state, 512, 11); }
void depthwise_fast_conformer(benchmark::State& state) { run(state, 1024, 9); }
}  // namespace

BENCHMARK(depthwise_sanm)->Apply(steno_bench::sanm_lengths);
BENCHMARK(depthwise_fast_conformer)->Arg(250);
