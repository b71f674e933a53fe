// bench/kernels/shapes.hpp - what the kernel benchmarks share: random rows and the SAN-M sizes, 512 columns and 6, 11
// and 30 seconds of audio.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <random>
#include <vector>

#include "measure.hpp"

namespace steno_bench {

inline void sanm_lengths(benchmark::internal::Benchmark* b) { b->Arg(100)->Arg(187)->Arg(500); }

/// Random [rows, cols] that owns its values.
struct random_rows {
  random_rows(steno::extent rows, steno::extent cols) : values(rows, cols) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<float> d(-1.0f, 1.0f);
    for (steno::extent i = 0; i < values.size(); ++i) values.data()[i] = d(engine);
  }
  steno::view<const float> in() const { return steno::core::make_view(values.data(), values.rows(), values.cols()); }
  steno::view<float> out() { return steno::core::make_view(values.data(), values.rows(), values.cols()); }
  steno::matrix<float, steno::dynamic, steno::dynamic> values;
};

}  // namespace steno_bench
