// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/precision.hpp>

#include <gtest/gtest.h>

namespace precision_test {

using namespace steno;

// Floats of any width are kept as they are; what meets blocks of small integers, or weights that round what they meet,
// may be rounded to 16 bits.
TEST(precision, floats_stay_exact_and_blocks_take_halves) {
  for (const dtype f : {dtype::f32, dtype::f16, dtype::bf16}) {
    EXPECT_FALSE(kernels::rounds_beside(f)) << core::info(f).name;
    EXPECT_EQ(kernels::packed_format_beside(f), dtype::f32) << core::info(f).name;
    EXPECT_EQ(kernels::cache_format_beside(f), dtype::f32) << core::info(f).name;
  }
  for (const dtype f : {dtype::q8_0, dtype::q4_0, dtype::q4_k, dtype::q6_k, dtype::q8_128, dtype::bf16_a16}) {
    EXPECT_TRUE(kernels::rounds_beside(f)) << core::info(f).name;
    EXPECT_EQ(kernels::packed_format_beside(f), dtype::f16) << core::info(f).name;
    EXPECT_EQ(kernels::cache_format_beside(f), dtype::f16) << core::info(f).name;
  }
}

}  // namespace precision_test
