// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/product.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <npy.hpp>
#include <string>
#include <support/emulated.hpp>
#include <support/golden.hpp>
#include <support/threads.hpp>

#include "kernels/product_support.hpp"

namespace product_test {

using namespace steno;
using namespace steno::kernels;
using namespace steno_test;
using matrix_f = matrix<float, dynamic, dynamic>;

struct shape {
  extent m, k, n;
};
// One value; tails of every tile in each direction; several panels, strips and chunks of K; wider strips.
constexpr shape shapes[] = {{1, 32, 1},    {1, 64, 70},    {2, 96, 33},   {3, 32, 16},    {4, 128, 5},    {5, 64, 100},
                            {6, 160, 48},  {7, 64, 31},    {8, 64, 64},   {9, 1056, 17},  {13, 96, 129},  {16, 512, 40},
                            {31, 64, 34},  {32, 64, 65},   {33, 288, 16}, {16, 1280, 40}, {45, 1312, 35}, {61, 32, 97},
                            {70, 608, 50}, {75, 1312, 66}, {300, 64, 33}, {523, 32, 18},  {9, 128, 1060}};
constexpr dtype formats[] = {dtype::f32,  dtype::f16,  dtype::bf16,   dtype::q8_0,    dtype::q4_0,   dtype::q4_1,
                             dtype::q5_0, dtype::q5_1, dtype::q2_k,   dtype::q3_k,    dtype::iq4_nl, dtype::q4_k,
                             dtype::q5_k, dtype::q6_k, dtype::q8_128, dtype::bf16_a16};
/// Large for an emulator.
bool left_out(const shape& s) { return test::emulated() && s.m * s.k * s.n > 170000; }
bool of_blocks(dtype format) { return is_int8(family_of(format)); }
/// The shape with rows of whole blocks of the format.
shape fitted(shape s, dtype format) {
  const auto step = static_cast<extent>(core::info(format).elements);
  s.k = (s.k + step - 1) / step * step;
  return s;
}

std::string label(isa level, dtype format, const shape& s) {
  return std::string(name_of(level)) + " " + std::string(core::info(format).name) + " " + std::to_string(s.m) + "x" +
         std::to_string(s.k) + "x" + std::to_string(s.n);
}

/// The rows that int8 products see: quantised by the definition, in double.
matrix_f quantised(const matrix_f& x, dtype format) {
  matrix_f q = x;
  const extent n = format == dtype::q8_128 ? 128 : 32;
  for (extent b = 0; b < x.size() / n; ++b) {
    float* v = q.data() + n * b;
    float largest = 0;
    for (extent k = 0; k < n; ++k) largest = std::max(largest, std::fabs(v[k]));
    for (extent k = 0; k < n; ++k)
      v[k] = largest == 0 ? 0 : static_cast<float>(largest / 127.0 * std::nearbyint(v[k] * (127.0f / largest)));
  }
  return q;
}

/// Whether tiles of bfloat16 numbers do this product.
bool of_tiles(isa level, dtype format, extent rows) {
  const extent from = kernels::detail::table_of(level).terms_from(family_of(format));
  return from != 0 && rows >= from;
}
/// To the nearest bfloat16: what block formats and their rows are in such tiles.
matrix_f rounded(const matrix_f& values) {
  matrix_f r = values;
  for (extent i = 0; i < r.size(); ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, r.data() + i, 4);
    bits = (bits + 0x8000u) & 0xffff0000u;
    std::memcpy(r.data() + i, &bits, 4);
  }
  return r;
}

/// The rows that products with the format see.
matrix_f seen_by(dtype format, const matrix_f& x) {
  return of_blocks(format) ? quantised(x, format) : format == dtype::bf16_a16 ? rounded(x) : x;
}

/// |y - x w^T| in double, largest over all values, in units of sum |x w| * 2^-24.
double error_in_ulps(const matrix_f& x, const matrix_f& w, const view<const float>& y) {
  double worst = 0;
  for (extent m = 0; m < x.rows(); ++m)
    for (extent n = 0; n < w.rows(); ++n) {
      double sum = 0, size = 0;
      for (extent k = 0; k < x.cols(); ++k) {
        const double p = static_cast<double>(x(m, k)) * w(n, k);
        sum += p;
        size += std::fabs(p);
      }
      worst = std::max(worst, std::fabs(y(m, n) - sum) / (size * 0x1p-24 + 1e-30));
    }
  return worst;
}

TEST(product, equals_the_double_product_for_all_formats_shapes_and_instruction_sets) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (dtype format : formats)
      for (const shape& any : shapes) {
        const shape s = fitted(any, format);
        if (left_out(any)) continue;
        const matrix_f x = random_matrix(s.m, s.k, 1);
        stored_matrix w(format, s.n, s.k, 2, 1);
        w.pack();
        matrix_f y = matrix_f::Constant(s.m, s.n, 7);
        context c;
        matmul(core::read(x), w.ref(), {}, core::write(y), c);
        // A chain of K roundings of partial sums, each at most half an ulp of a value below sum |x w|, cannot exceed K;
        // with random signs it stays far below. 24 is several times what is seen and far below any wrong term (2^24 /
        // K).
        if (of_blocks(format) && of_tiles(level, format, s.m)) {
          // Values of formats with minima or two kinds of scales may lie so near the middle of two bfloat16 numbers
          // that a few are rounded the other way, by 2^-8 of a term.
          const bool exact = !kernels::detail::layout_of(format).minima && !kernels::detail::layout_of(format).super;
          EXPECT_LT(error_in_ulps(rounded(x), rounded(w.values), core::read(y)),
                    exact ? 24 : 24 + 32 * 0x1p16 / static_cast<double>(s.k))
              << label(level, format, s);
          continue;
        }
        EXPECT_LT(error_in_ulps(seen_by(format, x), w.values, core::read(y)), 24) << label(level, format, s);
      }
  }
}

TEST(product, takes_any_K_for_float_weights) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (dtype format : {dtype::f32, dtype::f16, dtype::bf16, dtype::bf16_a16})
      for (extent k : {1, 7, 15, 17, 80, 257, 521, 1050})
        for (extent m : {1, 3, 6, 12, 20, 50}) {
          const shape s{m, k, 37};
          const matrix_f x = random_matrix(m, k, 3);
          stored_matrix w(format, s.n, k, 4, 1);
          matrix_f y(m, s.n);
          context c;
          matmul(core::read(x), w.ref(), {}, core::write(y), c);
          EXPECT_LT(error_in_ulps(seen_by(format, x), w.values, core::read(y)), 24) << label(level, format, s);
          matrix_f z(m, s.n);
          w.pack();
          matmul(core::read(x), w.ref(), {}, core::write(z), c);
          EXPECT_TRUE((y.array() == z.array()).all()) << label(level, format, s);
        }
  }
}

// What is rounded is the same everywhere; sums differ by their order, far less than 2^-9 of a value's parts.
TEST(product, bf16_a16_rounds_rows_alike_on_every_instruction_set_and_for_any_number_of_rows) {
  const isa_guard guard;
  const matrix_f x = random_matrix(40, 96, 41), seen = rounded(x);
  stored_matrix w(dtype::bf16_a16, 70, 96, 42);
  w.pack();
  for (isa level : available_isas()) {
    limit_isa(level);
    for (extent m = 1; m <= x.rows(); ++m) {
      matrix_f y(m, 70);
      context c;
      matmul(core::make_view(x.data(), m, 96), w.ref(), {}, core::write(y), c);
      EXPECT_LT(error_in_ulps(seen.topRows(m), w.values, core::read(y)), 24) << name_of(level) << " " << m;
      EXPECT_GT(error_in_ulps(x.topRows(m), w.values, core::read(y)), 1000) << name_of(level) << " " << m;
    }
  }
}

TEST(product, int8_gives_the_same_bits_on_every_instruction_set) {
  const isa_guard guard;
  for (const dtype format : formats)
    for (const shape& any : shapes) {
      if (!of_blocks(format) || left_out(any)) continue;
      const shape s = fitted(any, format);
      const matrix_f x = random_matrix(s.m, s.k, 5);
      stored_matrix w(format, s.n, s.k, 6);
      w.pack();
      const matrix_f bias = random_matrix(1, s.n, 7);
      const epilogue e{.bias = bias.data(), .act = activation::relu, .scale = 0.7f};
      limit_isa(isa::scalar);
      matrix_f want(s.m, s.n), got(s.m, s.n);
      context c;
      matmul(core::read(x), w.ref(), e, core::write(want), c);
      for (isa level : available_isas()) {
        if (of_tiles(level, format, s.m)) continue;
        limit_isa(level);
        matmul(core::read(x), w.ref(), e, core::write(got), c);
        EXPECT_TRUE((got.array() == want.array()).all()) << label(level, format, s);
      }
    }
}

// What bfloat16 tiles are for: faster, and nearer to the product of floats than int8 is.
TEST(product, bfloat_tiles_are_more_exact_than_int8) {
  if (!of_tiles(best_isa(), dtype::q8_0, 64)) GTEST_SKIP() << "needs a processor with tiles of bfloat16";
  const isa_guard guard;
  const matrix_f x = random_matrix(64, 1024, 31);
  for (const dtype format : formats) {
    if (!of_blocks(format) || !of_tiles(best_isa(), format, 64)) continue;
    stored_matrix w(format, 48, 1024, 32);
    w.pack();
    context c;
    const auto error = [&](isa level) {
      limit_isa(level);
      matrix_f y(64, 48);
      matmul(core::read(x), w.ref(), {}, core::write(y), c);
      return (y.cast<double>() - x.cast<double>() * w.values.cast<double>().transpose()).norm();
    };
    // Measured: 2.2 to 2.4 times, as the roundings of normal numbers would have it.
    EXPECT_LT(2 * error(best_isa()), error(isa::scalar)) << core::info(format).name;
  }
}

TEST(product, a_row_in_tiles_does_not_depend_on_the_others) {
  const isa_guard guard;
  const matrix_f x = random_matrix(300, 512, 33);
  for (const dtype format : formats) {
    if (!of_tiles(best_isa(), format, 77)) continue;
    stored_matrix w(format, 70, 512, 34);
    w.pack();
    context c;
    matrix_f all(300, 70), some(77, 70);
    matmul(core::read(x), w.ref(), {}, core::write(all), c);
    const matrix_f rows = x.middleRows(100, 77);
    matmul(core::read(rows), w.ref(), {}, core::write(some), c);
    EXPECT_TRUE((some.array() == all.middleRows(100, 77).array()).all()) << core::info(format).name;
  }
}

// `few` rows of so many columns are multiplied whole, `many` a part of K after the other.
void expect_same_bits_in_parts(extent few, extent many, extent columns, bool with_terms) {
  constexpr extent outputs = 70;
  const matrix_f x = random_matrix(many, columns, 35), residual = random_matrix(many, outputs, 36);
  const auto epilogue_from = [&](extent row) {
    return epilogue{.act = activation::silu, .residual = residual.data() + row * outputs, .residual_stride = outputs};
  };
  for (const isa level : available_isas()) {
    limit_isa(level);
    const detail::product_table& table = detail::table_of(level);
    for (const dtype format : formats) {
      const weight_family family = family_of(format);
      const bool floats = family == weight_family::float_rows || is_columns(family);
      const bool terms = of_tiles(level, format, few);
      if (terms ? !with_terms || table.term_parts == 1 : !floats || table.float_panel_strip == nullptr) continue;
      stored_matrix w(format, outputs, columns, 37);
      for (const bool packed : {false, true}) {
        if (packed) w.pack();
        context c;
        matrix_f want(many, outputs);
        for (extent m = 0; m < many; m += few) {
          const extent count = std::min(few, many - m);
          const matrix_f rows = x.middleRows(m, count);
          matmul(core::read(rows), w.ref(), epilogue_from(m), core::write(want.middleRows(m, count)), c);
        }
        for (const int threads : {1, 2}) {
          if (threads > 1 && !steno::test::has_threads) break;
          thread_pool pool(threads);
          context own{executor(pool)};
          core::workspace::frame frame(own.scratch);
          const operand o = prepare(core::read(x), format, frame, own.run);
          const bool in_parts = terms || packed || format == dtype::f32;  // stored columns are packed once
          EXPECT_EQ(detail::way_of(o, w.ref(), table).part.parts > 1, in_parts) << core::info(format).name;
          matrix_f y(many, outputs);
          multiply(o, w.ref(), epilogue_from(0), core::write(y), own);
          EXPECT_TRUE((y.array() == want.array()).all())
              << name_of(level) << " " << core::info(format).name << " packed " << packed << " threads " << threads;
        }
      }
    }
  }
}
TEST(product, columns_in_parts_give_the_same_bits) {
  const isa_guard guard;
  expect_same_bits_in_parts(60, 300, 4352, true);
}
// So few panels that f16 and bf16 are widened in registers, of rows so long that they come in parts all the same.
TEST(product, columns_of_few_panels_in_parts_give_the_same_bits) {
  const isa_guard guard;
  expect_same_bits_in_parts(60, 108, 10500, false);
}

TEST(product, int8_extremes_do_not_saturate) {
  const isa_guard guard;
  const extent k = 64;
  stored_matrix w(dtype::q8_0, 16, k, 8);
  for (int signs = 0; signs < 4; ++signs) {
    for (extent r = 0; r < 16; ++r)
      for (extent b = 0; b < 2; ++b) {
        std::byte* at = w.bytes + r * 68 + b * 34;
        const std::uint16_t one = 0x3c00;
        std::memcpy(at, &one, 2);
        std::memset(at + 2, (signs & 1) != 0 ? 127 : 128, 32);  // 127 or -128
      }
    w.pack();
    const float value = (signs & 2) != 0 ? 127.0f : -127.0f;
    for (extent m : {1, 7, 12}) {
      const matrix_f x = matrix_f::Constant(m, k, value);
      for (isa level : available_isas()) {
        limit_isa(level);
        matrix_f y(m, 16);
        context c;
        matmul(core::read(x), w.ref(), {}, core::write(y), c);
        const float want = value * ((signs & 1) != 0 ? 127.0f : -128.0f) * static_cast<float>(k);
        EXPECT_TRUE((y.array() == want).all()) << name_of(level) << " " << want << " " << y(0, 0);
      }
    }
  }
}

// f(level, format, s, x, w) for every instruction set and format, with packed weights.
template <class F>
void each_product(std::initializer_list<shape> all, unsigned seed, F f) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (dtype format : formats)
      for (const shape& any : all) {
        const shape s = fitted(any, format);
        const matrix_f x = random_matrix(s.m, s.k, seed);
        stored_matrix w(format, s.n, s.k, seed + 1);
        w.pack();
        f(level, format, s, x, w);
      }
  }
}

TEST(product, does_not_depend_on_the_number_of_threads) {
  each_product({{1, 512, 200}, {5, 96, 130}, {40, 640, 100}, {600, 64, 70}}, 9,
               [](isa level, dtype format, const shape& s, const matrix_f& x, const stored_matrix& w) {
                 matrix_f want(s.m, s.n);
                 context serial;
                 matmul(core::read(x), w.ref(), {}, core::write(want), serial);
                 for (int threads : {1, 2, 4}) {
                   if (threads > 1 && !steno::test::has_threads) break;
                   thread_pool pool(threads);
                   context c{executor(pool)};
                   matrix_f y(s.m, s.n);
                   matmul(core::read(x), w.ref(), {}, core::write(y), c);
                   EXPECT_TRUE((y.array() == want.array()).all()) << label(level, format, s) << " threads " << threads;
                 }
               });
}

TEST(product, rows_that_are_made_on_the_way_give_the_same_bits) {
  struct copies {
    const matrix_f& x;
    void write(extent first, extent count, float* out) const {
      std::copy_n(x.data() + first * x.cols(), count * x.cols(), out);
    }
  };
  thread_pool pool(steno::test::has_threads ? 3 : 1);
  each_product({{1, 96, 40}, {5, 96, 40}, {17, 512, 70}, {150, 288, 33}}, 12,
               [&](isa level, dtype format, const shape& s, const matrix_f& x, const stored_matrix& w) {
                 context c{executor(pool)};
                 matrix_f want(s.m, s.n), y(s.m, s.n);
                 matmul(core::read(x), w.ref(), {}, core::write(want), c);
                 core::workspace::frame frame(c.scratch);
                 const copies rows{x};
                 multiply(prepare(row_source(rows, s.m, s.k), format, frame, c.run), w.ref(), {}, core::write(y), c);
                 EXPECT_TRUE((y.array() == want.array()).all()) << label(level, format, s);
               });
}

TEST(product, unpacked_weights_give_the_same_bits) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (const dtype format : formats)
      for (const shape& any : shapes) {
        if (format == dtype::f32 || left_out(any)) continue;  // never packed
        const shape s = fitted(any, format);
        const matrix_f x = random_matrix(s.m, s.k, 11);
        stored_matrix w(format, s.n, s.k, 12, 1);
        matrix_f y(s.m, s.n), z(s.m, s.n);
        context c;
        matmul(core::read(x), w.ref(), {}, core::write(y), c);
        w.pack();
        matmul(core::read(x), w.ref(), {}, core::write(z), c);
        EXPECT_TRUE((y.array() == z.array()).all()) << label(level, format, s);
      }
  }
}

// Ends of groups and of matrices shorter and longer than what is fetched ahead of them.
TEST(product, what_is_fetched_ahead_changes_no_bit) {
  each_product({{1, 512, 100}, {1, 2048, 33}, {2, 512, 40}, {3, 512, 40}}, 17,
               [](isa level, dtype format, const shape& s, const matrix_f& x, const stored_matrix& w) {
                 context c;
                 core::workspace::frame frame(c.scratch);
                 const operand o = prepare(core::read(x), format, frame, c.run);
                 matrix_f want(s.m, s.n), y(s.m, s.n);
                 multiply(o, w.ref(), {}, core::write(want), c);
                 for (const std::size_t distance : {0u, 64u, 1536u, 4096u, 1u << 20})
                   for (const cache_level into : {cache_level::first, cache_level::second})
                     for (const int streams : {1, 2}) {
                       view<float> out = core::write(y);
                       const kernels::read_ahead::of_blocks blocks{distance, into, streams};
                       kernels::detail::multiply_ahead(o, w.ref(), {}, out, {blocks, blocks, distance}, c);
                       EXPECT_TRUE((y.array() == want.array()).all()) << label(level, format, s) << " " << distance;
                     }
               });
}

TEST(product, applies_the_epilogue) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (dtype format : formats)
      for (const shape& any : {shape{1, 64, 37}, shape{5, 64, 40}, shape{17, 96, 50}, shape{50, 64, 35}}) {
        const shape s = fitted(any, format);
        const matrix_f x = random_matrix(s.m, s.k, 13), bias = random_matrix(1, s.n, 14),
                       residual = random_matrix(s.m, s.n + 3, 15);
        stored_matrix w(format, s.n, s.k, 16);
        w.pack();
        context c;
        matrix_f plain(s.m, s.n);
        matmul(core::read(x), w.ref(), {}, core::write(plain), c);
        for (activation act : {activation::none, activation::relu, activation::gelu, activation::silu}) {
          matrix_f y(s.m, s.n);
          const epilogue e{bias.data(), act, residual.data(), s.n + 3, 0.25f};
          matmul(core::read(x), w.ref(), e, core::write(y), c);
          matrix_f in_place = residual.leftCols(s.n);
          const epilogue own{bias.data(), act, in_place.data(), s.n, 0.25f};
          matmul(core::read(x), w.ref(), own, core::write(in_place), c);
          for (extent m = 0; m < s.m; ++m)
            for (extent n = 0; n < s.n; ++n) {
              const double v = 0.25 * plain(m, n) + bias(0, n);
              const double a = act == activation::relu   ? std::max(v, 0.0)
                               : act == activation::gelu ? 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)))
                               : act == activation::silu ? v / (1 + std::exp(-v))
                                                         : v;
              // A few roundings of numbers of the size of v and the residual.
              ASSERT_NEAR(y(m, n), a + residual(m, n), 5e-7 * (std::fabs(v) + std::fabs(residual(m, n)) + 1))
                  << label(level, format, s) << " activation " << static_cast<int>(act) << " at " << m << " " << n;
              ASSERT_EQ(in_place(m, n), y(m, n)) << label(level, format, s);
            }
        }
      }
  }
}

TEST(product, reads_and_writes_strided_views_and_nothing_beside_them) {
  const isa_guard guard;
  for (isa level : available_isas()) {
    limit_isa(level);
    for (dtype format : formats)
      for (const shape& any : {shape{1, 32, 17}, shape{5, 64, 33}, shape{20, 96, 40}, shape{41, 64, 70}}) {
        const shape s = fitted(any, format);
        const matrix_f wide = random_matrix(s.m, s.k + 9, 17);
        const matrix_f x = wide.middleCols(4, s.k);
        stored_matrix w(format, s.n, s.k, 18);
        w.pack();
        context c;
        matrix_f y(s.m, s.n), board = matrix_f::Constant(s.m + 2, s.n + 5, 3);
        matmul(core::read(x), w.ref(), {}, core::write(y), c);
        matmul(core::make_view<dynamic, dynamic>(wide.data() + 4, s.m, s.k, s.k + 9), w.ref(), {},
               core::make_view<dynamic, dynamic>(board.data() + (s.n + 5) + 2, s.m, s.n, s.n + 5), c);
        EXPECT_TRUE((board.block(1, 2, s.m, s.n).array() == y.array()).all()) << label(level, format, s);
        board.block(1, 2, s.m, s.n).setConstant(3);
        EXPECT_TRUE((board.array() == 3).all()) << label(level, format, s);
      }
  }
}

TEST(product, one_operand_serves_many_weights_of_its_family_and_others) {
  const matrix_f x = random_matrix(20, 256, 19);
  context c;
  core::workspace::frame frame(c.scratch);
  const operand rows = prepare(core::read(x), dtype::bf16, frame, c.run);
  const operand blocks = prepare(core::read(x), dtype::q8_0, frame, c.run);
  const operand bfloats = prepare(core::read(x), dtype::bf16_a16, frame, c.run);
  for (dtype format : formats) {
    const stored_matrix w(format, 24, 256, 20);
    matrix_f a(20, 24), b(20, 24), d(20, 24), want(20, 24);
    matmul(core::read(x), w.ref(), {}, core::write(want), c);
    multiply(rows, w.ref(), {}, core::write(a), c);
    multiply(blocks, w.ref(), {}, core::write(b), c);
    multiply(bfloats, w.ref(), {}, core::write(d), c);
    for (const matrix_f& y : {a, b, d}) EXPECT_TRUE((y.array() == want.array()).all()) << core::info(format).name;
  }
}

TEST(product, second_pass_allocates_nothing) {
  for (dtype format : formats) {
    const matrix_f x = random_matrix(70, 256, 21);
    const stored_matrix w(format, 100, 256, 22);
    matrix_f y(70, 100);
    context c;
    matmul(core::read(x), w.ref(), {}, core::write(y), c);
    const std::size_t held = c.scratch.capacity();
    matmul(core::read(x), w.ref(), {}, core::write(y), c);
    EXPECT_EQ(c.scratch.capacity(), held) << core::info(format).name;
  }
}

TEST(product, of_no_rows_is_nothing) {
  const stored_matrix w(dtype::f32, 3, 32, 23);
  matrix_f x(0, 32), y(0, 3);
  context c;
  matmul(core::read(x), w.ref(), {}, core::write(y), c);
  EXPECT_TRUE(has_product(dtype::q6_k) && !has_product(dtype::i32));
}

// Rows of ggml's own quantisers (heavy tails, outliers, subnormal scales, ...) times its activations, against the exact
// products and those of ggml's kernels.
TEST(product, agrees_with_ggml) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden" / "quant";
  const auto expected = nlohmann::json::parse(std::ifstream(folder / "expected.json"))["types"];
  const auto stored_x = npy::load(folder / "activations.npy").floats();
  const matrix_f x = core::make_view(stored_x.data(), 8, 512);
  const isa_guard guard;
  for (const dtype format : formats) {
    if (format == dtype::q8_128 || format == dtype::bf16_a16) continue;  // steno's own
    const std::string name(core::info(format).name);
    const auto bytes = npy::load(folder / (name + ".blocks.npy")).bytes;
    const auto values = npy::load(folder / (name + ".dequant.npy")).floats();
    const weights::weight_ref w{reinterpret_cast<const std::byte*>(bytes.data()), nullptr, format, 8, 512};
    const matrix_f seen = of_blocks(format) ? quantised(x, format) : x;
    for (isa level : available_isas()) {
      limit_isa(level);
      matrix_f y(8, 8);
      context c;
      matmul(core::read(x), w, {}, core::write(y), c);
      for (extent r = 0; r < 8; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const double size = expected[name]["sum_abs_products"][at];
        double exact = 0;
        for (extent k = 0; k < 512; ++k)
          exact += static_cast<double>(seen(r, k)) * values[static_cast<std::size_t>(r * 512 + k)];
        // Roundings of partial sums; with minima the two parts of a product are larger than their sum.
        EXPECT_NEAR(y(r, r), exact, 2e-6 * size) << name << " " << name_of(level) << " row " << r;
        // int8 activations: steps of 1/127 of a block's largest value. Measured: at most 3.7e-3 of the size.
        EXPECT_NEAR(y(r, r), expected[name]["vecdot_float"][at].get<double>(), 5e-3 * size) << name << " row " << r;
        // ggml rounds the activations' scales to half precision (2^-11), their sums too (q4_1, q5_1: its README says
        // 5e-3), and gives 256 values one scale with K formats (measured: 2.8e-2).
        const bool rounded_sums = format == dtype::q4_1 || format == dtype::q5_1,
                   super = core::info(format).elements == 256;
        const double bound = super ? 3e-2 : rounded_sums ? 5e-3 : of_blocks(format) ? 5e-4 : 1e-3;
        EXPECT_NEAR(y(r, r), expected[name]["vecdot_ggml"][at].get<double>(), bound * size) << name << " row " << r;
      }
    }
  }
}

/// One block of a format, all bits of its quants and small factors alike, its half-precision numbers as given.
void fill_blocks(stored_matrix& w, std::byte bits, std::uint16_t scale, std::uint16_t minimum) {
  const half_places places = halves_of(w.format);
  const std::size_t size = core::info(w.format).bytes;
  std::fill(w.memory.begin(), w.memory.end(), bits);
  for (std::size_t i = 0; i < w.memory.size(); i += size) {
    std::memcpy(w.bytes + i + places.scale, &scale, 2);
    if (places.minimum >= 0) std::memcpy(w.bytes + i + places.minimum, &minimum, 2);
  }
  weights::dequantise(w.format, w.bytes, w.values.data(), static_cast<std::size_t>(w.values.size()));
}

TEST(product, block_formats_at_their_extremes) {
  const isa_guard guard;
  const extent k = 512;
  for (const dtype format : formats) {
    if (!of_blocks(format)) continue;
    stored_matrix w(format, 17, k, 24);
    // Zero, the smallest subnormal, 1, -1, the largest half.
    for (const int half : {0x0000, 0x0001, 0x3c00, 0xbc00, 0x7bff})
      for (const int bits : {0x00, 0xff, 0x80, 0x7f, 0x5a}) {
        const auto scale = static_cast<std::uint16_t>(half);
        fill_blocks(w, static_cast<std::byte>(bits), scale, scale);
        w.pack();
        for (const float size : {0.0f, 1e-30f, 1.0f, 1e20f})
          for (const extent m : {1, 7, 12, 69}) {
            if (test::emulated() && (m != 7 || size < 1)) continue;
            matrix_f x = matrix_f::Constant(m, k, size);
            for (extent i = 0; i < x.size(); i += 3) x.data()[i] = -size;
            for (isa level : available_isas()) {
              limit_isa(level);
              const bool tiles = of_tiles(level, format, m);
              const matrix_f seen = tiles ? x : quantised(x, format);
              matrix_f y(m, 17);
              context c;
              matmul(core::read(x), w.ref(), {}, core::write(y), c);
              for (extent n = 0; n < 17; ++n) {
                double exact = 0, sum = 0, largest = 0;
                for (extent i = 0; i < k; ++i) {
                  exact += static_cast<double>(seen(m - 1, i)) * w.values(n, i);
                  sum += std::fabs(static_cast<double>(seen(m - 1, i)));
                  largest = std::max(largest, std::fabs(static_cast<double>(w.values(n, i))));
                }
                // Products are exact but for the scale's rounding; a chain of 16 or 32 blocks rounds as often. Where a
                // minimum cancels its quants, the parts are up to 64 times the largest value.
                // In tiles both factors are rounded by at most 2^-9.
                ASSERT_NEAR(y(m - 1, n), exact,
                            (tiles ? 0x1.1p-8 * sum * largest : 0) +
                                64 * 0x1p-23 * (sum * (largest + std::fabs(core::half_to_float(scale)) * 63)) + 1e-37)
                    << core::info(format).name << " " << name_of(level) << " " << bits << " " << scale << " " << size;
              }
            }
          }
      }
  }
}

TEST(product, extents_that_do_not_agree_are_refused) {
  const matrix_f x = matrix_f::Zero(3, 64), w = matrix_f::Zero(5, 64);
  const auto times = [&](extent m, extent k, extent rows, extent cols, extent outputs) {
    context c;
    matrix_f y(m, outputs);
    weights::weight_ref ref{};
    ref.data = reinterpret_cast<const std::byte*>(w.data());
    ref.rows = rows;
    ref.cols = cols;
    matmul(core::make_view(x.data(), 3, k, 64), ref, {}, core::write(y), c);
  };
  EXPECT_NO_THROW(times(3, 64, 5, 64, 5));
  EXPECT_THROW(times(3, 32, 5, 64, 5), error);
  EXPECT_THROW(times(3, 64, 5, 32, 5), error);
  EXPECT_THROW(times(2, 64, 5, 64, 5), error);
  EXPECT_THROW(times(3, 64, 5, 64, 4), error);
}
}  // namespace product_test
