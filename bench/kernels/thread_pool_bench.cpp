// A hundred runs of 32 tiles of a few microseconds, as the products of short recordings are: what handing them out and
// waiting for them costs. Also with more threads than processors, as where a container may use fewer than it sees.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/norm.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

void thread_pool_runs(benchmark::State& state) {
  constexpr extent tiles = 32, rows = 16;
  const steno_bench::random_rows x(tiles * rows, 512), w(2, 512);
  steno_bench::random_rows y(tiles * rows, 512);
  thread_pool pool(static_cast<int>(state.range(0)));
  const auto runs = [&](const executor& run) {
    for (int i = 0; i < 100; ++i)
      run.run(tiles, [&](extent tile, int) {
        const auto part = [&](auto&& all) { return all.middleRows(tile * rows, rows); };
        kernels::layer_norm(part(x.in()), w.values.data(), w.values.data() + 512, 1e-5f, part(y.out()), {});
      });
  };
  const executor one, several(pool);
  steno_bench::measure(state, {.flops = 100 * 8 * static_cast<double>(x.values.size()), .threads = pool.width()},
                       [&] { runs(several); });
  steno_bench::measure_speedup(
      state, [&] { runs(one); }, [&] { runs(several); });
}
}  // namespace

BENCHMARK(thread_pool_runs)->Arg(2)->Arg(4)->Arg(8)->UseRealTime()->Unit(benchmark::kMicrosecond);
