// bench/support/measure.hpp - the loop that every benchmark runs, and its counters:
//   op/s      operations a second, int8 and float together (a multiply-add is two)
//   B/s       bytes a second that must be read or written once
//   of_peak   time at the peak / time taken, where the peak's time is int8 operations / int8 peak + bfloat16 operations
//   /
//             bfloat16 peak + float operations / multiply-add peak; 0.6 reads: at 60 % of what the processor can do
//   of_read   the same for bytes that come from memory / the memory's reading rate
//   x_real    seconds of audio a second
//   speedup   time of one thread / time of several, by the wall
// Fractions are medians of ratios measured alternately, peak and benchmark, after the timed loop; by processor time
// where the benchmark has one thread.
// With STENO_BENCH_TURNS=N in the environment a benchmark does N turns and nothing else, for counters of instructions
// (bench/compare).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "peaks.hpp"

namespace steno_bench {

/// What one turn of a benchmark does.
struct work {
  double flops = 0;         ///< float operations, whatever the weights' format
  double int8_ops = 0;      ///< operations of int8 products
  double bfloat_flops = 0;  ///< operations of products of bfloat16 numbers

  double operations() const { return flops + int8_ops + bfloat_flops; }
  double bytes = 0;          ///< read or written at least once
  bool from_memory = false;  ///< the bytes are not in a cache
  double audio = 0;          ///< seconds of audio
  int threads = 1;
};

namespace detail {

inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// 0: it is timed.
inline int counted_turns() {
  static const char* const said = std::getenv("STENO_BENCH_TURNS");
  return said == nullptr ? 0 : std::atoi(said);
}

/// By the wall, which is what several threads share.
inline double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median of ideal / taken. Long turns are measured three times, short ones several at once in 25 pairs.
template <class Clock, class Ideal, class F>
double fraction(Clock now, Ideal ideal, F& turn) {
  double from = now();
  turn();
  const double once = std::max(now() - from, 1e-9);
  const int pairs = static_cast<int>(std::clamp(0.3 / once, 3.0, 25.0));
  const int turns = static_cast<int>(std::clamp(std::round(2e-3 / once), 1.0, 1000.0));
  std::vector<double> ratios;
  double before = ideal();
  for (int i = 0; i < pairs; ++i) {
    from = now();
    for (int k = 0; k < turns; ++k) turn();
    const double taken = (now() - from) / turns, after = ideal();
    ratios.push_back(0.5 * (before + after) / taken);
    before = after;
  }
  return median(std::move(ratios));
}

}  // namespace detail

/// Times `turn`, called without arguments, and sets the counters. Its first two calls do not count.
template <class F>
void measure(benchmark::State& state, const work& w, F turn) {
  if (const int turns = detail::counted_turns(); turns > 0) {
    for (auto _ : state)
      for (int k = 0; k < turns; ++k) turn();
    return;
  }
  for (int i = 0; i < 2; ++i) turn();  // scratch memory grows in the first one, and is one new piece in the second
  const double from = detail::wall();
  for (auto _ : state) {
    turn();
    benchmark::ClobberMemory();
  }
  const bool finding_the_count = detail::wall() - from < 0.02;  // called again with more turns
  using benchmark::Counter;
  const auto rate = [](double v) { return Counter(v, Counter::kIsIterationInvariantRate); };
  const auto part = [](double amount, double of) { return amount > 0 ? amount / of : 0.0; };
  if (w.operations() > 0) state.counters["op/s"] = rate(w.operations());
  if (w.bytes > 0) state.counters["B/s"] = rate(w.bytes);
  if (w.audio > 0) state.counters["x_real"] = rate(w.audio);
  if (finding_the_count) return;
  const double threads = w.threads;
  const auto clock = w.threads > 1 ? detail::wall : detail::now;
  const auto at_peak = [&] {
    return (part(w.flops, fma_rate()) + part(w.int8_ops, int8_rate()) + part(w.bfloat_flops, bfloat_rate())) / threads;
  };
  const bool known = (w.flops + w.bfloat_flops == 0 || fma_rate() > 0) && (w.int8_ops == 0 || int8_rate() > 0);
  if (known && w.operations() > 0) state.counters["of_peak"] = detail::fraction(clock, at_peak, turn);
  if (w.from_memory && read_rate() > 0)
    state.counters["of_read"] = detail::fraction(
        clock, [&] { return w.bytes / read_rate(); }, turn);
}

/// Adds the counter `speedup`: turns of one thread and of several, alternately.
template <class One, class Several>
void measure_speedup(benchmark::State& state, One one, Several several) {
  const auto alone = [&] {
    const double from = detail::wall();
    one();
    return detail::wall() - from;
  };
  alone();
  state.counters["speedup"] = detail::fraction(detail::wall, alone, several);
}

}  // namespace steno_bench
