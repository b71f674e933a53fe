// Counts what a test program allocates: operator new and malloc alike (Eigen's temporaries come from malloc), on all
// threads. Under a sanitizer, which has its own malloc, only operator new is counted.
//
//   forward(x, y, context);                       // warm-up
//   steno::test::allocation_counter counted;
//   forward(x, y, context);
//   EXPECT_EQ(counted.so_far(), 0u);
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace steno::test {

/// Allocations of the whole program since it started.
std::size_t allocations() noexcept;

/// The n-th allocation from now on fails, and no other; 0: none does.
void fail_allocation(std::size_t n) noexcept;

/// Allocations since it was made.
class allocation_counter {
 public:
  std::size_t so_far() const noexcept { return allocations() - start_; }

 private:
  std::size_t start_ = allocations();
};

}  // namespace steno::test
