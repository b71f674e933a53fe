// Layer norm and RMS norm of [T, 512]; operations: the eight (four) per value of the textbook form.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/norm.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

void layer_norm(benchmark::State& state) {
  const steno_bench::random_rows x(state.range(0), 512), w(2, 512);
  steno_bench::random_rows y(state.range(0), 512);
  const double n = static_cast<double>(x.values.size());
  steno_bench::measure(state, {.flops = 8 * n, .bytes = 8 * n}, [&] {
    kernels::layer_norm(x.in(), w.values.data(), w.values.data() + 512, 1e-5f, y.out(), {});
  });
}
void rms_norm(benchmark::State& state) {
  const steno_bench::random_rows x(state.range(0), 512), w(1, 512);
  steno_bench::random_rows y(state.range(0), 512);
  const double n = static_cast<double>(x.values.size());
  steno_bench::measure(state, {.flops = 4 * n, .bytes = 8 * n},
                       [&] { kernels::rms_norm(x.in(), w.values.data(), 1e-5f, y.out(), {}); });
}
}  // namespace

BENCHMARK(layer_norm)->Apply(steno_bench::sanm_lengths);
BENCHMARK(rms_norm)->Apply(steno_bench::sanm_lengths);
