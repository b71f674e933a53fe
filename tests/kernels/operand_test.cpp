// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/operand.hpp>

#include <gtest/gtest.h>

#include "kernels/product_support.hpp"

namespace operand_test {

using namespace steno;
using namespace steno::kernels;
using namespace steno_test;
using matrix_f = matrix<float, dynamic, dynamic>;

TEST(operand, splits_rows_into_nearly_equal_panels) {
  for (extent rows = 1; rows < 40; ++rows) {
    const kernels::detail::panel_split split(rows, 6);
    EXPECT_EQ(split.count, (rows + 5) / 6);
    extent next = 0;
    for (extent p = 0; p < split.count; ++p) {
      EXPECT_EQ(split.first(p), next);
      EXPECT_LE(split.height(p), 6);
      EXPECT_GE(split.height(p), split.height(0) - 1);
      next += split.height(p);
    }
    EXPECT_EQ(next, rows);
  }
}

TEST(operand, panels_for_tiles_are_full_but_for_the_last) {
  for (extent rows = 1; rows < 140; ++rows) {
    const kernels::detail::panel_split split(rows, 32, 16);
    EXPECT_EQ(split.count, (rows + 31) / 32);
    extent next = 0;
    for (extent p = 0; p < split.count; ++p) {
      EXPECT_EQ(split.first(p), next);
      EXPECT_LE(split.height(p), split.height(0));
      EXPECT_LE(split.height(p), 32);
      EXPECT_TRUE(p + 1 == split.count || split.height(p) % 16 == 0) << rows;
      next += split.height(p);
    }
    EXPECT_EQ(next, rows);
  }
}

void check_quantised(dtype format, extent values, extent blocks, extent rows = 13) {
  const isa_guard guard;
  matrix_f x = random_matrix(rows, values * blocks, 1);
  x.row(2).setZero();
  x.row(3) *= 1e-36f;  // 127 / max would overflow: a zero block
  x.row(4) *= 1e-20f;
  x.row(5) *= 1e20f;
  x(6, 3) = -1000;
  for (isa level : available_isas()) {
    limit_isa(level);
    core::workspace memory;
    core::workspace::frame frame(memory);
    const operand o = prepare(core::read(x), format, frame, executor());
    EXPECT_EQ(o.family, family_of(format));
    EXPECT_EQ(o.span * 32, values);
    const extent padded = (blocks + 15) / 16 * 16;
    for (extent p = 0; p < o.split.count; ++p)
      for (extent r = 0; r < o.split.height(p); ++r)
        for (extent b = 0; b < blocks; ++b) {
          const extent m0 = o.split.first(p), height = o.split.height(p);
          const extent at = m0 * padded + (b / 16 * height + r) * 16 + b % 16;
          const float* v = x.row(m0 + r).data() + values * b;
          float largest = 0;
          for (extent k = 0; k < values; ++k) largest = std::max(largest, std::fabs(v[k]));
          const bool zero = largest <= 0x1p-100f;
          EXPECT_EQ(o.scales[at], zero ? 0 : largest / 127) << name_of(level);
          int sums[2] = {};
          for (extent k = 0; k < values; ++k) {
            const extent width = o.paired ? 64 : 32, value = b * values + k;
            const int q = o.quants[m0 * x.cols() + (value / width * height + r) * width + value % width];
            EXPECT_EQ(q, zero ? 0 : static_cast<int>(std::nearbyint(v[k] * (127 / largest)))) << name_of(level);
            sums[k % 32 / 16] += q;
          }
          const int parts[] = {sums[0] + sums[1], sums[0], sums[1]};
          for (extent i = 0; i < (o.span == 1 ? 3 : 1); ++i) {
            const extent place = at + i * o.plane;
            EXPECT_EQ(o.starts[place], kernels::detail::table_of(level).sum_origin - static_cast<float>(128 * parts[i]))
                << name_of(level);
            EXPECT_EQ(o.offsets[place], o.scales[at] * static_cast<float>(parts[i])) << name_of(level);
          }
        }
  }
}

// More blocks than a sweep has, no multiple of 16.
TEST(operand, quantises_blocks_as_defined_on_every_instruction_set) { check_quantised(dtype::q8_0, 32, 70); }
TEST(operand, quantises_spans_as_defined_on_every_instruction_set) {
  check_quantised(dtype::q8_128, 128, 19);
  check_quantised(dtype::q8_128, 128, 3);
  check_quantised(dtype::q8_128, 128, 3, 75);  // several panels of tiles, the last one lower
}

TEST(operand, splits_rows_into_bfloat16_numbers) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (const dtype format : {dtype::f16, dtype::q8_0, dtype::bf16_a16})
      for (extent cols : {32, 96, 40, 257}) {
        if (format == dtype::q8_0 && cols % 32 != 0) continue;
        const matrix_f x = random_matrix(75, cols, 3);
        core::workspace memory;
        core::workspace::frame frame(memory);
        const operand o = prepare(core::read(x), format, frame, executor());
        if (o.terms == nullptr || detail::table_of(level).term_multiple != 1) continue;
        EXPECT_EQ(level, highest_isa);
        EXPECT_EQ(o.term_count, format == dtype::f16 ? 3 : 1);
        const extent steps = (cols + 31) / 32;
        for (extent p = 0; p < o.split.count; ++p)
          for (extent r = 0; r < o.split.height(p); ++r)
            for (extent k = 0; k < 32 * steps; ++k) {
              double sum = 0;
              for (extent t = 0; t < o.term_count; ++t) {
                const extent height = o.split.height(p), step = k / 32, pair = k % 16 * 2 + k % 32 / 16;
                const extent row = o.split.first(p) * steps * o.term_count + (step * o.term_count + t) * height + r;
                sum += core::bfloat_to_float(o.terms[row * 32 + pair]);
              }
              const float value = k < cols ? x(o.split.first(p) + r, k) : 0;
              // One number is off by half of its last bit at most, three give all of the value.
              ASSERT_LE(std::fabs(sum - value), (o.term_count == 1 ? 0x1p-8 : 0) * std::fabs(value)) << r << " " << k;
            }
      }
  }
}

TEST(operand, pairs_up_bfloat16_numbers) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    if (detail::table_of(level).term_multiple != 2) continue;  // no vdpbf16ps
    for (extent cols : {32, 34, 62, 96, 1050}) {
      const matrix_f x = random_matrix(75, cols, 3);
      core::workspace memory;
      core::workspace::frame frame(memory);
      const operand o = prepare(core::read(x), dtype::bf16_a16, frame, executor());
      ASSERT_NE(o.terms, nullptr);
      const extent kept = (cols + 31) / 32 * 32;  // values of a row
      for (extent p = 0; p < o.split.count; ++p)
        for (extent r = 0; r < o.split.height(p); ++r)
          for (extent k = 0; k < cols; ++k) {
            const extent at = o.split.first(p) * kept + (k / 2 * o.split.height(p) + r) * 2 + k % 2;
            const float value = x(o.split.first(p) + r, k);
            ASSERT_LE(std::fabs(core::bfloat_to_float(o.terms[at]) - value), 0x1p-8f * std::fabs(value))
                << r << " " << k;
          }
    }
    const matrix_f odd = random_matrix(75, 33, 4);
    core::workspace memory;
    core::workspace::frame frame(memory);
    EXPECT_EQ(prepare(core::read(odd), dtype::bf16_a16, frame, executor()).terms, nullptr);
  }
}

TEST(operand, keeps_the_values_of_rows) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (extent rows : {1, 7, 33, 50, 100})
      for (extent cols : {1, 15, 40, 257}) {
        const matrix_f x = random_matrix(rows, cols, 2);
        core::workspace memory;
        core::workspace::frame frame(memory);
        const operand o = prepare(core::read(x), dtype::f16, frame, executor());
        EXPECT_EQ(o.x, x.data());
        if (o.panels == nullptr) continue;
        for (extent p = 0; p < o.split.count; ++p)
          for (extent r = 0; r < o.split.height(p); ++r)
            for (extent k = 0; k < cols; ++k)
              ASSERT_EQ(o.panels[o.split.first(p) * cols + k * o.split.height(p) + r], x(o.split.first(p) + r, k))
                  << name_of(level);
      }
  }
}
}  // namespace operand_test
