// SPDX-License-Identifier: Apache-2.0
#include <steno/core/bit_cast.hpp>
#include <steno/core/half.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace half_test {

TEST(half, every_pattern_survives_a_round_trip) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const float f = steno::core::half_to_float(bits);
    if (std::isnan(f))
      EXPECT_TRUE(std::isnan(steno::core::half_to_float(steno::core::float_to_half(f))));
    else
      EXPECT_EQ(steno::core::float_to_half(f), bits);
  }
}

#if defined(__aarch64__)
using compilers_half = __fp16;  // g++ 12 has no _Float16 there
#define STENO_TEST_HALF
#elif defined(__FLT16_MAX__)
using compilers_half = _Float16;
#define STENO_TEST_HALF
#endif
#ifdef STENO_TEST_HALF
TEST(half, equals_the_compilers_conversion) {
  std::mt19937 rng(1);
  for (int i = 0; i < 2000000; ++i) {
    const float f = steno::core::bit_cast<float>(static_cast<std::uint32_t>(rng()));
    if (std::isnan(f)) continue;
    const auto want = static_cast<compilers_half>(f);
    std::uint16_t bits;
    std::memcpy(&bits, &want, 2);
    ASSERT_EQ(steno::core::float_to_half(f), bits) << f;
  }
}
#endif

TEST(half, bfloat_rounds_to_nearest_even) {
  EXPECT_EQ(steno::core::float_to_bfloat(1.0f), 0x3f80);
  EXPECT_EQ(steno::core::float_to_bfloat(steno::core::bit_cast<float>(0x3f808000u)), 0x3f80);  // tie, down to even
  EXPECT_EQ(steno::core::float_to_bfloat(steno::core::bit_cast<float>(0x3f818000u)), 0x3f82);  // tie, up to even
  EXPECT_EQ(steno::core::float_to_bfloat(steno::core::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_TRUE(std::isnan(steno::core::bfloat_to_float(steno::core::float_to_bfloat(std::nanf("")))));
}

}  // namespace half_test
