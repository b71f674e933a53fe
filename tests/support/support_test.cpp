// The tests' own helpers: an allocation counter that counts, random numbers that do not change.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/view.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "allocations.hpp"
#include "random.hpp"

namespace {
// Not to be optimised away.
volatile const void* sink;
}  // namespace

TEST(allocations, counts_new_on_every_thread) {
  const steno::test::allocation_counter counted;
  EXPECT_EQ(counted.so_far(), 0u);
  const auto one = std::make_unique<int>(1);
  sink = one.get();
  const std::size_t after_one = counted.so_far();
  EXPECT_EQ(after_one, 1u);
  std::thread([] {
    const std::vector<double> many(100);
    sink = many.data();
  }).join();
  EXPECT_GE(counted.so_far(), after_one + 2);  // the thread's state and the vector
}

TEST(allocations, counts_aligned_new_and_arrays) {
  struct alignas(64) line {
    char bytes[64];
  };
  const steno::test::allocation_counter counted;
  const auto lines = std::make_unique<line[]>(3);
  sink = lines.get();
  EXPECT_EQ(counted.so_far(), 1u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lines.get()) % 64, 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__) && !defined(__clang__)
TEST(allocations, counts_temporaries_of_eigen) {
  const steno::test::allocation_counter counted;
  Eigen::VectorXf v = Eigen::VectorXf::Ones(1000);
  sink = v.data();
  EXPECT_EQ(counted.so_far(), 1u);
}
#endif

TEST(random_numbers, are_the_same_everywhere) {
  steno::test::random_numbers a(42), b(42), other(43);
  EXPECT_EQ(a.bits(), 13679457532755275413u);  // SplitMix64's published sequence for the seed 42
  EXPECT_EQ(b.bits(), 13679457532755275413u);
  EXPECT_NE(other.bits(), 13679457532755275413u);
}

TEST(random_numbers, stay_in_their_ranges) {
  steno::test::random_numbers r(7);
  double sum = 0, squares = 0;
  bool low = false, high = false;
  for (int i = 0; i < 10000; ++i) {
    const float u = r.uniform(-2.0f, 3.0f);
    EXPECT_TRUE(u >= -2.0f && u < 3.0f);
    const auto n = r.integer(-1, 2);
    EXPECT_TRUE(n >= -1 && n <= 2);
    low |= n == -1;
    high |= n == 2;
    const double g = static_cast<double>(r.normal());
    sum += g;
    squares += g * g;
  }
  EXPECT_TRUE(low && high);
  EXPECT_NEAR(sum / 10000, 0.0, 0.05);      // five standard deviations of the mean, 0.01 each
  EXPECT_NEAR(squares / 10000, 1.0, 0.07);  // five of the variance, 0.014 each
}
