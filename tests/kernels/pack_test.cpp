// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/blocks.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/product_support.hpp"
#include "support/threads.hpp"

namespace pack_test {

using namespace steno;
using namespace steno::kernels;
using namespace steno_test;

TEST(pack, leaves_f32_where_it_is) {
  const stored_matrix w(dtype::f32, 5, 64, 1);
  EXPECT_EQ(packed_bytes(w.ref()), 0u);
  std::byte untouched{42};
  pack(w.ref(), &untouched, executor());
  EXPECT_EQ(untouched, std::byte{42});
}

TEST(pack, transposes_halves) {
  for (const dtype format : {dtype::f16, dtype::bf16, dtype::bf16_a16})
    for (const extent cols : {1, 7, 8, 50}) {
      const extent rows = 21;
      const stored_matrix w(format, rows, cols, 1, 1);
      ASSERT_EQ(packed_bytes(w.ref()), static_cast<std::size_t>(2 * 16 * cols * 2));
      std::vector<std::byte> packed(packed_bytes(w.ref()) + 1, std::byte{99});
      pack(w.ref(), packed.data(), executor());
      EXPECT_EQ(packed.back(), std::byte{99});
      for (extent n = 0; n < 32; ++n)
        for (extent k = 0; k < cols; ++k) {
          std::uint16_t got, want = 0;
          std::memcpy(&got, packed.data() + 2 * ((n / 16 * cols + k) * 16 + n % 16), 2);
          if (n < rows) std::memcpy(&want, w.bytes + 2 * (n * cols + k), 2);
          ASSERT_EQ(got, want) << core::info(format).name << " " << n << " " << k;
        }
    }
}

// Bytes, and a scale for every `span` blocks behind them.
void check_interleaved(dtype format, extent blocks, extent span) {
  const extent rows = 21, cols = 32 * blocks, group = blocks * 512 + blocks / span * 32;
  const stored_matrix w(format, rows, cols, 2, 1);
  ASSERT_EQ(packed_bytes(w.ref()), 2u * static_cast<std::size_t>(group));
  std::vector<std::byte> packed(packed_bytes(w.ref()) + 1, std::byte{99});
  thread_pool two(steno::test::has_threads ? 2 : 1);
  pack(w.ref(), packed.data(), executor(two));
  EXPECT_EQ(packed.back(), std::byte{99});
  for (extent n = 0; n < 32; ++n)
    for (extent k = 0; k < cols; ++k) {
      const std::byte* at = packed.data() + n / 16 * group;
      const extent b = k / 32, j = k % 32 / 4, i = k % 4, c = n % 16;
      const int quant = static_cast<int>(at[b * 512 + j * 64 + c * 4 + i]) - 128;
      std::uint16_t half;
      std::memcpy(&half, at + blocks * 512 + b / span * 32 + c * 2, 2);
      if (n < rows) {
        EXPECT_EQ(core::half_to_float(half) * static_cast<float>(quant), w.values(n, k)) << n << " " << k;
      } else {
        EXPECT_EQ(quant, 0);
        EXPECT_EQ(half, 0);
      }
    }
}

TEST(pack, interleaves_q8_0_and_q8_128_as_documented) {
  check_interleaved(dtype::q8_0, 3, 1);
  check_interleaved(dtype::q8_128, 12, 4);
}

// What the unpackers of all instruction sets make of the packed form is what the stored bytes mean, bit for bit.
TEST(pack, block_formats_unpack_to_their_values) {
  const isa_guard guard;
  for (const dtype format : {dtype::q4_0, dtype::q4_1, dtype::q5_0, dtype::q5_1, dtype::iq4_nl, dtype::q2_k,
                             dtype::q3_k, dtype::q4_k, dtype::q5_k, dtype::q6_k}) {
    const extent rows = 21, cols = 512, blocks = cols / 32;
    stored_matrix w(format, rows, cols, 3, 1);
    w.pack();
    const kernels::detail::block_layout layout = kernels::detail::layout_of(format);
    const std::size_t bytes = kernels::detail::group_bytes(format, cols);
    ASSERT_EQ(w.packed.size(), 2 * bytes);
    for (isa level : available_isas()) {
      std::vector<std::byte> quants(static_cast<std::size_t>(blocks) * 512);
      std::vector<float> scales(static_cast<std::size_t>(blocks) * 32), minima(scales.size());
      for (extent n = 0; n < 32; ++n) {
        const std::byte* group = w.packed.data() + static_cast<std::size_t>(n / 16) * bytes;
        if (n % 16 == 0)
          kernels::detail::table_of(level).unpack({.layout = layout,
                                                   .in = layout.bits == 8 ? group + blocks * 512 : group,
                                                   .ahead = group,
                                                   .count = blocks,
                                                   .quants = quants.data(),
                                                   .scales = scales.data(),
                                                   .minima = minima.data()});
        const std::byte* tile = layout.bits == 8 ? group : quants.data();
        const extent parts = layout.halves ? 2 : 1;
        for (extent k = 0; k < cols; ++k) {
          const extent b = k / 32, at = (b * parts + (layout.halves ? k % 32 / 16 : 0)) * 16 + n % 16;
          const int quant = static_cast<int>(tile[b * 512 + k % 32 / 4 * 64 + n % 16 * 4 + k % 4]) - 128;
          const float scale = scales[static_cast<std::size_t>(at)];
          const float minimum = layout.minima ? minima[static_cast<std::size_t>(at)] : 0;
          if (n < rows) {
            ASSERT_EQ(scale * static_cast<float>(quant) + minimum, w.values(n, k))
                << core::info(format).name << " " << name_of(level) << " " << n << " " << k;
          } else {
            ASSERT_TRUE(scale == 0 && minimum == 0) << core::info(format).name;
          }
        }
      }
    }
  }
}

TEST(pack, keeps_formats_at_about_their_bits) {
  const std::pair<dtype, double> bits[] = {{dtype::q8_0, 8.5},    {dtype::q4_0, 4.5},    {dtype::q4_1, 5},
                                           {dtype::q5_0, 5.5},    {dtype::q5_1, 6},      {dtype::q2_k, 3.125},
                                           {dtype::q3_k, 3.5625}, {dtype::q4_k, 4.625},  {dtype::q5_k, 5.625},
                                           {dtype::q6_k, 6.5625}, {dtype::q8_128, 8.125}};
  for (const auto& [format, want] : bits) {
    const weights::weight_ref w{.format = format, .rows = 64, .cols = 1024};
    EXPECT_EQ(static_cast<double>(packed_bytes(w)) * 8 / (64 * 1024), want) << core::info(format).name;
  }
}
// A NaN in any place of a block: pack() says so exactly when the block means one.
TEST(pack, finds_values_that_are_no_numbers) {
  const extent rows = 19, cols = 512;
  for (const core::dtype_info& f : core::dtype_table) {
    if (!has_product(f.type) || f.type == dtype::f32) continue;
    const std::size_t row = core::bytes_of(f.type, static_cast<std::size_t>(cols));
    std::vector<std::byte> bytes(row * static_cast<std::size_t>(rows));
    const weights::weight_ref w{.data = bytes.data(), .format = f.type, .rows = rows, .cols = cols};
    std::vector<std::byte> packed(packed_bytes(w));
    std::vector<float> values(static_cast<std::size_t>(cols));
    EXPECT_TRUE(pack(w, packed.data(), executor())) << f.name;
    bool seen = false;
    for (std::size_t at = 0; at < f.bytes; at += 2)
      for (const std::uint16_t bad : {std::uint16_t{0x7e00}, std::uint16_t{0xfc00}, std::uint16_t{0x7f80}}) {
        const std::size_t last = static_cast<std::size_t>(cols) / f.elements - 1, r = at % 3 == 0 ? 18 : 5;
        std::byte* const place = bytes.data() + r * row + last * f.bytes + at;
        std::byte kept[2];
        std::memcpy(kept, place, 2);
        std::memcpy(place, &bad, 2);
        weights::dequantise(f.type, bytes.data() + r * row, values.data(), values.size());
        // A scale that is infinite beside quants that are 0 means NaN: 0 * infinity.
        bool finite = true;
        for (const float v : values) finite &= std::isfinite(v);
        EXPECT_EQ(pack(w, packed.data(), executor()), finite) << f.name << " byte " << at << " of a block: " << bad;
        seen |= !finite;
        std::memcpy(place, kept, 2);
      }
    EXPECT_TRUE(seen) << f.name;
  }
}

}  // namespace pack_test
