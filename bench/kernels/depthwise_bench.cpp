// Depthwise convolution of [T, 512] with 11 taps (SAN-M) and 9 of [T, 1024] (FastConformer); two operations per tap.
#include <steno/kernels/depthwise.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

void run(benchmark::State& state, extent cols, extent count) {
  const steno_bench::random_rows x(state.range(0), cols), taps(count, cols);
  steno_bench::random_rows y(state.range(0), cols);
  for (auto _ : state) {
    kernels::depthwise(x.in(), taps.values.data(), count, (count - 1) / 2, y.out(), {});
    benchmark::ClobberMemory();
  }
  const double n = static_cast<double>(x.values.size());
  steno_bench::report(state, 2 * n * static_cast<double>(count), 8 * n);
}
void depthwise_sanm(benchmark::State& state) { run(state, 512, 11); }
void depthwise_fast_conformer(benchmark::State& state) { run(state, 1024, 9); }
}  // namespace

BENCHMARK(depthwise_sanm)->Apply(steno_bench::sanm_lengths);
BENCHMARK(depthwise_fast_conformer)->Arg(250);
