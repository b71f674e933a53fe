// tune-read-ahead [MEBIBYTES [REPEATS]] - finds the row of kernels/read_ahead.hpp for this processor: one row of x by
// weights of each kind from memory, with every distance, hint and number of streams, in turns, so that all of them see
// the same moments.
// Weights should exceed the last cache by far (default: twice its size, 256 MiB at least). Measure pinned and
// undisturbed:
//   chrt -f 50 taskset -c 1 build/bin/tune-read-ahead
// Prints the rate of each in GB/s (best and median of the repeats) and how much of the reading rate of memory the
// median is, and the table's row: for formats of eight bits, of fewer, and for halves, the settings that are best for
// all of them together (by the product of their medians).
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/product.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace {
using namespace steno;
using kernels::cache_level, kernels::isa, kernels::read_ahead, steno_bench::detail::median;

constexpr extent rows = 1024, cols = 4096;

/// Copies of a packed matrix of zeros with scales of 1, until they fill `bytes`.
struct cold_weights {
  cold_weights(dtype format, std::size_t bytes) {
    weights::weight_ref w{nullptr, nullptr, format, rows, cols};
    const std::vector<std::byte> stored(w.bytes());
    w.data = stored.data();
    size = kernels::packed_bytes(w);
    const std::size_t step = (size + 4095) / 4096 * 4096, copies = bytes / step + 1;
    std::byte* to = memory.allocate(copies * step);
    kernels::pack(w, to, executor());
    for (std::size_t i = 0; i < copies; ++i) {
      if (i > 0) std::memcpy(to + i * step, to, size);
      w.data = w.packed = to + i * step;
      refs.push_back(w);
    }
  }
  std::size_t size;
  weights::storage memory;
  std::vector<weights::weight_ref> refs;
};

struct setting {
  read_ahead::of_blocks ahead;     ///< for halves, too, which have a distance alone
  std::vector<double> rates = {};  ///< of the format and level at hand
  double score = 0;                ///< sum of the logarithms of median / best median
};
const char* name_of(cache_level c) { return c == cache_level::first ? "first" : "second"; }

/// Measures all settings with one format at one level and adds to their scores.
void measure(dtype format, isa level, std::size_t bytes, int repeats, std::vector<setting>& all) {
  kernels::limit_isa(level);
  const cold_weights w(format, bytes);
  matrix<float, dynamic, dynamic> x(1, cols), y(1, rows);
  x.setConstant(0.5f);
  context c;
  core::workspace::frame frame(c.scratch);
  const kernels::operand o = kernels::prepare(core::read(x), format, frame, c.run);
  view<float> out = core::write(y);
  std::vector<double> reading;
  std::size_t next = 0;
  for (setting& s : all) s.rates.clear();
  for (int i = 0; i < repeats; ++i) {
    reading.push_back(steno_bench::read_rate());
    for (setting& s : all) {
      constexpr int products = 16;
      const double from = steno_bench::detail::now();
      for (int k = 0; k < products; ++k, next = (next + 1) % w.refs.size())
        kernels::detail::multiply_ahead(o, w.refs[next], {}, out, {s.ahead, s.ahead, s.ahead.bytes}, c);
      s.rates.push_back(products * static_cast<double>(w.size) / (steno_bench::detail::now() - from));
    }
  }
  std::printf("%s, %s: memory is read at %.1f GB/s\n", std::string(core::info(format).name).c_str(),
              std::string(kernels::name_of(level)).c_str(), median(reading) * 1e-9);
  double best = 0;
  for (const setting& s : all) best = std::max(best, median(s.rates));
  for (setting& s : all) {
    const double rate = median(s.rates);
    s.score += std::log(rate / best);
    std::printf("  %d of %5zu bytes, %-6s  %5.1f %5.1f GB/s  %3.0f %%\n", s.ahead.streams, s.ahead.bytes,
                name_of(s.ahead.into), *std::max_element(s.rates.begin(), s.rates.end()) * 1e-9, rate * 1e-9,
                100 * rate / median(reading));
  }
}

/// The best of `all` for all formats at the lowest and the best level.
read_ahead::of_blocks best_of(std::vector<setting> all, std::initializer_list<dtype> formats, std::size_t bytes,
                              int repeats) {
  for (const dtype format : formats)
    for (const isa level : {kernels::lowest_vector_isa, kernels::best_isa()})
      measure(format, level, bytes, repeats, all);
  return std::max_element(all.begin(), all.end(), [](const setting& a, const setting& b) { return a.score < b.score; })
      ->ahead;
}
}  // namespace

int main(int count, char** arguments) {
  if (kernels::best_isa() < kernels::lowest_vector_isa) {
    std::puts("this processor has no vector kernels");
    return 1;
  }
  const std::size_t bytes = count > 1 ? std::strtoull(arguments[1], nullptr, 10) << 20 : steno_bench::cold_bytes();
  const int repeats = count > 2 ? std::atoi(arguments[2]) : 15;
  std::vector<setting> blocks, halves;
  for (const std::size_t distance : {1024u, 1536u, 2048u, 3072u, 4096u, 6144u, 8192u, 12288u}) {
    halves.push_back({{distance, cache_level::second, 2}});
    for (const cache_level into : {cache_level::first, cache_level::second})
      for (const int streams : {1, 2}) blocks.push_back({{distance, into, streams}});
  }
  const auto e = best_of(blocks, {dtype::q8_0}, bytes, repeats);
  const auto f = best_of(blocks, {dtype::q4_0, dtype::q4_k, dtype::q5_k, dtype::q6_k}, bytes, repeats);
  const auto h = best_of(halves, {dtype::f16, dtype::bf16}, bytes, repeats);
  std::printf("{processor_family::..., {{%zu, cache_level::%s, %d}, {%zu, cache_level::%s, %d}, %zu}},\n", e.bytes,
              name_of(e.into), e.streams, f.bytes, name_of(f.into), f.streams, h.bytes);
}
