#include <steno/core/thread_pool.hpp>
#include <steno/kernels/pack.hpp>

#include <gtest/gtest.h>

#include "kernels/product_support.hpp"

namespace {
using namespace steno;
using namespace steno::kernels;
using namespace steno_test;

TEST(pack, reads_float_formats_in_place) {
  for (dtype format : {dtype::f32, dtype::f16, dtype::bf16}) {
    const stored_matrix w(format, 5, 64, 1);
    EXPECT_EQ(packed_bytes(w.ref()), 0u);
    std::byte untouched{42};
    pack(w.ref(), &untouched, executor());
    EXPECT_EQ(untouched, std::byte{42});
  }
}

TEST(pack, interleaves_q8_0_as_documented) {
  const extent rows = 21, cols = 96;
  const stored_matrix w(dtype::q8_0, rows, cols, 2, 1);
  ASSERT_EQ(packed_bytes(w.ref()), 2u * 3u * 544u);
  std::vector<std::byte> packed(packed_bytes(w.ref()) + 1, std::byte{99});
  thread_pool two(2);
  pack(w.ref(), packed.data(), executor(two));
  EXPECT_EQ(packed.back(), std::byte{99});
  for (extent n = 0; n < 32; ++n)
    for (extent k = 0; k < cols; ++k) {
      const std::byte* group = packed.data() + n / 16 * 3 * 544;
      const extent b = k / 32, j = k % 32 / 4, i = k % 4, c = n % 16;
      const int quant = static_cast<int>(group[b * 512 + j * 64 + c * 4 + i]) - 128;
      std::uint16_t half;
      std::memcpy(&half, group + 3 * 512 + b * 32 + c * 2, 2);
      if (n < rows) {
        EXPECT_EQ(half_to_float(half) * static_cast<float>(quant), w.values(n, k)) << n << " " << k;
      } else {
        EXPECT_EQ(quant, 0);
        EXPECT_EQ(half, 0);
      }
    }
}
}  // namespace
