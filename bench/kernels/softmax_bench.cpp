// Softmax of [T, 512] and log softmax over SenseVoice's vocabulary [T, 25055]; operations: three per value and one per
// exponential (which is about 15 instructions), so the rate is low by design: look at bytes.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/softmax.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

template <class F>
void run(benchmark::State& state, extent cols, F f) {
  const steno_bench::random_rows x(state.range(0), cols);
  steno_bench::random_rows y(state.range(0), cols);
  const double n = static_cast<double>(x.values.size());
  steno_bench::measure(state, {.flops = 4 * n, .bytes = 8 * n}, [&] { f(x.in(), y.out()); });
}
void softmax(benchmark::State& state) {
  run(state, 512, [](const auto& x, const auto& y) { kernels::softmax(x, y, {}); });
}
void log_softmax_vocabulary(benchmark::State& state) {
  run(state, 25055, [](const auto& x, const auto& y) { kernels::log_softmax(x, y, {}); });
}
void gelu(benchmark::State& state) { run(state, 2048, kernels::apply_gelu); }
void silu(benchmark::State& state) { run(state, 2048, kernels::apply_silu); }
}  // namespace

BENCHMARK(softmax)->Apply(steno_bench::sanm_lengths);
BENCHMARK(log_softmax_vocabulary)->Arg(100);
BENCHMARK(gelu)->Arg(100);
BENCHMARK(silu)->Arg(100);
