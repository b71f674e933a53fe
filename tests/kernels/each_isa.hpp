// tests/kernels/each_isa.hpp - runs a test body once per instruction set that this processor has, or per number of
// threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/cpu.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/threads.hpp"

namespace steno_test {

using steno::test::has_threads;

/// Whether its kernels round a product and a sum at once.
inline bool has_fma(steno::kernels::isa level) {
#if defined(__wasm__)
  if (level == steno::kernels::isa::simd128) return false;
#endif
  return level != steno::kernels::isa::scalar;
}

/// Calls f(level) for each available set that has float kernels of its own and restores the best one afterwards.
template <class F>
void each_isa(F f) {
  using steno::kernels::isa;
  for (const isa level : steno::kernels::isa_levels) {
    if (!steno::kernels::has_isa(level)) continue;
#if defined(__aarch64__)
    if (level > isa::neon) break;  // those above differ in int8 products
#endif
    steno::kernels::limit_isa(level);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::string(steno::kernels::name_of(level)));
    f(level);
  }
  steno::kernels::limit_isa(steno::kernels::highest_isa);
}

/// Calls f() for each available set; its result (a guarded matrix, a vector) must have the same bits for all sets with
/// fused multiply-add.
template <class F, class Same>
void same_bits_with_fma(F f, Same same) {
  using steno::kernels::lowest_vector_isa;
  if (steno::kernels::best_isa() <= lowest_vector_isa) GTEST_SKIP() << "needs two instruction sets with FMA";
  steno::kernels::limit_isa(lowest_vector_isa);
  const auto first = f();
  steno::kernels::limit_isa(steno::kernels::highest_isa);
  EXPECT_TRUE(same(first, f()));
}

/// Calls f(executor) serially and with pools of 1, 2 and 4: same(first, other) must hold.
template <class F, class Same>
void same_bits_for_pools(F f, Same same) {
  const auto first = f(steno::executor{});
  for (const int threads : {1, 2, 4}) {
    if (threads > 1 && !has_threads) break;
    steno::thread_pool pool(threads);
    EXPECT_TRUE(same(first, f(steno::executor(pool)))) << threads;
  }
}

}  // namespace steno_test
