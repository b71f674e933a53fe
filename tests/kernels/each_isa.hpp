// tests/kernels/each_isa.hpp - runs a test body once per instruction set that this processor has.
#pragma once
#include <steno/kernels/cpu.hpp>

#include <gtest/gtest.h>

#include <string>

namespace steno_test {

/// Calls f(level) for each available set and restores the best one afterwards.
template <class F>
void each_isa(F f) {
  using steno::kernels::isa;
  for (const isa level : {isa::scalar, isa::avx2, isa::avx512, isa::avx512vnni}) {
    if (level > steno::kernels::best_isa()) break;
    steno::kernels::limit_isa(level);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::string(steno::kernels::name_of(level)));
    f(level);
  }
  steno::kernels::limit_isa(isa::avx512vnni);
}

}  // namespace steno_test
