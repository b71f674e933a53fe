// Attention of a SAN-M layer (4 heads of 128 out of one fused [T, 1536] matrix), of Whisper base (8 heads of 64, 1500
// positions) and one query against many keys; "rounded": as beside quantised weights. 4 Tq Tk H d operations; the
// exponentials are not counted.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/attention.hpp>

#include "shapes.hpp"

namespace {
using namespace steno;

void run(benchmark::State& state, extent queries, extent keys, extent heads, extent width, bool rounds = false) {
  const extent columns = heads * width;
  const steno_bench::random_rows q(queries, 3 * columns), kv(keys, 3 * columns);
  steno_bench::random_rows out(queries, columns);
  const auto block = [&](const steno_bench::random_rows& m, extent i) {
    return core::make_view(m.values.data() + i * columns, m.values.rows(), columns, 3 * columns);
  };
  context c;
  const steno_bench::work w{.flops = 4.0 * static_cast<double>(queries * keys * columns),
                            .bytes = 8.0 * static_cast<double>((queries + keys) * columns)};
  const kernels::attention_options o{.scale = 0.09f, .rounds = rounds};
  steno_bench::measure(state, w,
                       [&] { kernels::attention(block(q, 0), block(kv, 1), block(kv, 2), heads, o, out.out(), c); });
}
void attention_sanm(benchmark::State& state) { run(state, state.range(0), state.range(0), 4, 128); }
void attention_sanm_rounded(benchmark::State& state) { run(state, state.range(0), state.range(0), 4, 128, true); }
void attention_whisper_base(benchmark::State& state) { run(state, 1500, 1500, 8, 64); }
void attention_whisper_base_rounded(benchmark::State& state) { run(state, 1500, 1500, 8, 64, true); }
void attention_one_query(benchmark::State& state) { run(state, 1, state.range(0), 8, 64); }
}  // namespace

BENCHMARK(attention_sanm)->Apply(steno_bench::sanm_lengths);
BENCHMARK(attention_sanm_rounded)->Apply(steno_bench::sanm_lengths);
BENCHMARK(attention_whisper_base);
BENCHMARK(attention_whisper_base_rounded);
BENCHMARK(attention_one_query)->Arg(100)->Arg(1500);
