// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/attention.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace attention_test {

namespace k = steno::kernels;
using namespace steno_test;

struct sizes {
  extent queries, keys, heads, width, value_width;
};

/// softmax(scale q k^T) v of one output in double; `spread` receives sum_j p_j |v_j|.
double reference(const guarded& q, const guarded& key, const guarded& v, sizes s, double scale, extent t, extent h,
                 extent c, double* spread) {
  std::vector<double> p(static_cast<std::size_t>(s.keys));
  double largest = -1e300, sum = 0, y = 0;
  for (extent j = 0; j < s.keys; ++j) {
    double dot = 0;
    for (extent i = 0; i < s.width; ++i)
      dot += static_cast<double>(q.at(t, h * s.width + i)) * key.at(j, h * s.width + i);
    p[static_cast<std::size_t>(j)] = dot * scale;
    largest = std::max(largest, dot * scale);
  }
  *spread = 0;
  for (double& x : p) sum += x = std::exp(x - largest);
  for (extent j = 0; j < s.keys; ++j) {
    const double term = p[static_cast<std::size_t>(j)] / sum * v.at(j, h * s.value_width + c);
    y += term;
    *spread += std::fabs(term);
  }
  return y;
}

/// What rounding the factors to 16 bits may move, where scores have that many terms of at most so much. A factor moves
/// by 2^-17.8 of itself on average (2^-8 twice, evenly), two of them and what is left out by 2^-17; the signs are as
/// random as the numbers, five times the deviation is what hundred thousand scores reach, and weights and values do as
/// much once more. One bfloat16 number in the place of two is 256 times as much.
double rounding(double terms, double term) {
  const double of_each = k::has_fast_bfloat16() && k::active_isa() != k::highest_isa ? 256 * 7.6e-6 : 7.6e-6;
  return 5 * of_each * (std::sqrt(terms) * term + 1);
}

void expect_attention(sizes s, float scale, float range, bool rounds = false) {
  SCOPED_TRACE(testing::Message() << s.queries << " x " << s.keys << " heads " << s.heads << " of " << s.width << ", "
                                  << s.value_width);
  const guarded q = guarded(s.queries, s.heads * s.width, 9).randomise(1, range);
  const guarded key = guarded(s.keys, s.heads * s.width, 4).randomise(2, range);
  const guarded v = guarded(s.keys, s.heads * s.value_width, 1).randomise(3);
  guarded y(s.queries, s.heads * s.value_width, 2);
  steno::context c;
  k::attention(q.in(), key.in(), v.in(), s.heads, {.scale = scale, .rounds = rounds}, y.out(), c);
  EXPECT_TRUE(y.intact());
  const double score = static_cast<double>(range * range * scale) * static_cast<double>(s.width);  // most of |q . k|
  for (extent t = 0; t<s.queries; t += s.queries> 40 ? 7 : 1)
    for (extent h = 0; h < s.heads; ++h)
      for (extent i = 0; i<s.value_width; i += s.value_width> 20 ? 5 : 1) {
        double spread = 0;
        const double want = reference(q, key, v, s, scale, t, h, i, &spread);
        // A score's rounding error (an ulp of the largest possible one per four terms, at worst) moves its weight by
        // as much, relatively; sums over keys and the final quotient add a few ulp.
        const double more = rounds ? rounding(static_cast<double>(s.width), range * range * scale) : 0;
        ASSERT_NEAR(y.at(t, h * s.value_width + i), want, spread * (3e-6 + 1.2e-7 * score + more))
            << t << "," << h << "," << i;
      }
}

TEST(attention, agrees_with_double) {
  each_isa([](k::isa level) {
    for (const extent queries : {1, 2, 5, 13})
      for (const extent keys : {1, 15, 16, 17, 63, 64, 65, 130})
        for (const extent width : {1, 15, 16, 33}) expect_attention({queries, keys, 2, width, width}, 0.3f, 1.0f);
    expect_attention({50, 70, 3, 8, 21}, 0.5f, 1.0f);
    expect_attention({100, 100, 4, 128, 128}, 0.088388f, 1.0f);
    expect_attention({97, 197, 1, 64, 64}, 0.125f, 3.0f);
    if (level != k::isa::scalar) expect_attention({187, 500, 2, 140, 140}, 0.0845f, 1.0f);  // slow without vectors
  });
}

TEST(attention, with_rounded_factors) {
  each_isa([](k::isa level) {
    for (const extent queries : {64, 77, 97})
      for (const extent keys : {1, 16, 31, 33, 127, 129})
        for (const extent width : {1, 17, 32, 47}) expect_attention({queries, keys, 2, width, width}, 0.3f, 1.0f, true);
    expect_attention({100, 100, 4, 128, 128}, 0.088388f, 1.0f, true);
    expect_attention({97, 197, 1, 64, 80}, 0.125f, 3.0f, true);
    if (level != k::isa::scalar) expect_attention({187, 500, 2, 140, 100}, 0.0845f, 1.0f, true);
  });
}

TEST(attention, scores_beyond_the_range_of_exp) {
  each_isa([](k::isa) { expect_attention({9, 200, 1, 16, 16}, 40.0f, 2.0f); });
}

TEST(attention, nothing_to_attend_to) {
  steno::context c;
  guarded q = guarded(5, 32).randomise(1), k0(0, 32), v0(0, 32), y = guarded(5, 32).randomise(2);
  k::attention(q.in(), k0.in(), v0.in(), 2, 1.0f, y.out(), c);
  EXPECT_TRUE(y.intact());
  for (extent t = 0; t < 5; ++t)
    for (extent i = 0; i < 32; ++i) EXPECT_EQ(y.at(t, i), 0.0f);
  guarded none(0, 32);
  k::attention(none.in(), q.in(), q.in(), 2, 1.0f, none.out(), c);
  EXPECT_TRUE(none.intact());
}

TEST(attention, column_blocks_of_one_matrix) {
  each_isa([](k::isa) {
    steno::context c;
    const guarded qkv = guarded(75, 96, 0).randomise(4);
    guarded q(75, 32), key(75, 32), v(75, 32), fused(75, 32), apart(75, 32);
    q.out() = qkv.in().leftCols(32);
    key.out() = qkv.in().middleCols(32, 32);
    v.out() = qkv.in().rightCols(32);
    const auto all = qkv.in();
    const auto block = [&](extent first) { return steno::core::make_view(all.data() + first, 75, 32, 96); };
    k::attention(block(0), block(32), block(64), 2, 0.25f, fused.out(), c);
    k::attention(q.in(), key.in(), v.in(), 2, 0.25f, apart.out(), c);
    EXPECT_TRUE(fused.same_bits(apart));
  });
}

TEST(attention, same_bits) {
  const guarded q = guarded(187, 4 * 40).randomise(1, 3.0f), key = guarded(150, 4 * 40).randomise(2),
                v = guarded(150, 4 * 40).randomise(3);
  const auto same = [](const guarded& a, const guarded& b) { return a.same_bits(b); };
  for (const bool rounds : {false, true}) {
    const auto run = [&](const steno::executor& e) {
      steno::context c(e);
      guarded y(187, 4 * 40);
      k::attention(q.in(), key.in(), v.in(), 4, {.scale = 0.5f, .rounds = rounds}, y.out(), c);
      return y;
    };
    same_bits_for_pools(run, same);
    if (!rounds) same_bits_with_fma([&] { return run({}); }, same);
  }
}

// A query's row does not depend on which queries stand beside it, as long as there are enough for tiles.
TEST(attention, rows_do_not_depend_on_their_tile) {
  each_isa([](k::isa) {
    steno::context c;
    const guarded q = guarded(110, 64, 0).randomise(1, 3.0f), key = guarded(150, 64, 0).randomise(2),
                  v = guarded(150, 64, 0).randomise(3);
    for (const bool rounds : {false, true}) {
      const k::attention_options options{.scale = 0.5f, .rounds = rounds};
      guarded all(110, 64, 0);
      k::attention(q.in(), key.in(), v.in(), 2, options, all.out(), c);
      const extent some = rounds ? k::detail::attention_tiles_from : k::detail::attention_few + 1;
      for (const extent t : {0, 5, 33, 46, 57, 60, 101}) {
        if (t + some > 110) continue;
        guarded part(some, 64, 0);
        k::attention(steno::core::read(q.in().middleRows(t, some)), key.in(), v.in(), 2, options, part.out(), c);
        for (extent r = 0; r < some; ++r)
          for (extent i = 0; i < 64; ++i) ASSERT_EQ(part.at(r, i), all.at(t + r, i)) << t;
      }
    }
  });
}

// Causal limits, windows, biases and grouped heads, in tiles and in rows, against plain loops in double.
TEST(attention, masks_biases_and_grouped_heads) {
  struct variant {
    extent queries, keys, heads, key_heads, width, value_width;
    bool causal;
    extent offset, window;
    bool bias, shared_bias;
    bool rounds = false;
  };
  const variant variants[] = {
      {7, 7, 2, 2, 16, 16, true, 0, 0, false, false},
      {150, 300, 4, 2, 24, 40, true, 150, 0, false, false},
      {150, 150, 2, 1, 64, 64, true, 0, 20, false, false},
      {40, 260, 2, 2, 8, 8, true, 100, 130, true, false},
      {33, 140, 3, 3, 20, 20, false, 0, 0, true, true},
      {9, 9, 2, 2, 16, 16, true, -3, 0, false, false},
      {1, 37, 4, 1, 64, 64, true, 36, 0, false, false},
      {3, 50, 2, 2, 33, 70, true, 47, 11, true, false},
      {4, 5, 2, 2, 16, 130, true, -2, 0, false, false},
      {150, 300, 4, 2, 24, 40, true, 150, 0, false, false, true},
      {150, 150, 2, 1, 64, 64, true, 0, 20, false, false, true},
      {70, 260, 2, 2, 8, 8, true, 100, 130, true, false, true},
      {65, 140, 3, 3, 20, 20, false, 0, 0, true, true, true},
      {99, 99, 2, 2, 16, 16, true, -33, 0, false, false, true},
  };
  each_isa([&](k::isa) {
    for (const variant& z : variants) {
      SCOPED_TRACE(testing::Message() << z.queries << " x " << z.keys << ", window " << z.window);
      const guarded q = guarded(z.queries, z.heads * z.width, 3).randomise(1, 2.0f);
      const guarded key = guarded(z.keys, z.key_heads * z.width, 1).randomise(2, 2.0f);
      const guarded v = guarded(z.keys, z.key_heads * z.value_width, 2).randomise(3);
      const guarded bias = guarded(z.heads * z.queries, z.keys, 0).randomise(4, 3.0f);
      guarded y(z.queries, z.heads * z.value_width, 2);
      steno::context c;
      k::attention_options o{.scale = 0.3f,
                             .rounds = z.rounds,
                             .key_heads = z.key_heads,
                             .causal = z.causal,
                             .causal_offset = z.offset,
                             .window = z.window};
      if (z.bias) {
        o.bias = bias.in().data();
        o.bias_stride = bias.in().outerStride();
        o.bias_head_stride = z.shared_bias ? 0 : z.queries * o.bias_stride;
      }
      k::attention(q.in(), key.in(), v.in(), z.heads, o, y.out(), c);
      EXPECT_TRUE(y.intact());
      for (extent h = 0; h < z.heads; ++h)
        for (extent t = 0; t < z.queries; ++t) {
          const extent g = h / (z.heads / z.key_heads);
          std::vector<double> p(static_cast<std::size_t>(z.keys), 0.0);
          double sum = 0;
          for (extent j = 0; j < z.keys; ++j) {
            if (z.causal && (j > t + z.offset || (z.window > 0 && j <= t + z.offset - z.window))) continue;
            double dot = 0;
            for (extent i = 0; i < z.width; ++i)
              dot += static_cast<double>(q.at(t, h * z.width + i)) * key.at(j, g * z.width + i);
            dot *= 0.3f;
            if (z.bias) dot += bias.at((z.shared_bias ? 0 : h * z.queries) + t, j);
            sum += p[static_cast<std::size_t>(j)] = std::exp(dot);
          }
          for (extent i = 0; i < z.value_width; ++i) {
            double want = 0;
            for (extent j = 0; j < z.keys && sum > 0; ++j)
              want += p[static_cast<std::size_t>(j)] / sum * v.at(j, g * z.value_width + i);
            // As in expect_attention; scores reach 0.3 * 4 * width + 3.
            const double width = static_cast<double>(z.width), more = z.rounds ? rounding(width, 1.2) : 0;
            ASSERT_NEAR(y.at(t, h * z.value_width + i), want, 3e-6 + 1.2e-7 * (1.2 * width + 3) + more)
                << h << "," << t << "," << i;
          }
        }
    }
  });
}

// Packed once and read many times: the same as attention over the keys and values, which are rounded first where they
// are kept as halves.
TEST(attention, keys_and_values_packed_once) {
  using steno::dtype;
  const sizes all[] = {{1, 300, 2, 64, 64}, {5, 129, 3, 16, 24},   {6, 1, 1, 20, 20},
                       {7, 128, 2, 64, 64}, {100, 260, 2, 40, 72}, {97, 31, 1, 64, 64}};
  each_isa([&](k::isa) {
    for (const sizes& s : all)
      for (const dtype format : {dtype::f32, dtype::f16}) {
        SCOPED_TRACE(testing::Message() << s.queries << " x " << s.keys << ", " << s.width << ", " << s.value_width);
        const guarded q = guarded(s.queries, s.heads * s.width, 9).randomise(1);
        guarded key = guarded(s.keys, s.heads * s.width, 4).randomise(2);
        guarded v = guarded(s.keys, s.heads * s.value_width, 1).randomise(3);
        k::packed_keys_values m{.data = nullptr,
                                .format = format,
                                .heads = s.heads,
                                .keys = s.keys,
                                .width = s.width,
                                .value_width = s.value_width};
        std::vector<std::byte> bytes(m.bytes() + 64, std::byte{0x5a});
        m.data = bytes.data();
        steno::context c;
        k::pack_attention(key.in(), v.in(), m, c);
        for (std::size_t i = m.bytes(); i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0x5a});
        if (format == dtype::f16)
          for (guarded* g : {&key, &v})
            for (extent r = 0; r < g->rows(); ++r)
              for (extent i = 0; i < g->cols(); ++i)
                g->at(r, i) = steno::core::half_to_float(steno::core::float_to_half(g->at(r, i)));
        guarded want(s.queries, s.heads * s.value_width, 2), y(s.queries, s.heads * s.value_width, 2);
        k::attention(q.in(), key.in(), v.in(), s.heads, 0.2f, want.out(), c);
        k::attention(q.in(), m, 0.2f, y.out(), c);
        EXPECT_TRUE(y.intact());
        // Sums of at most 300 terms below 1, in another order for few queries.
        EXPECT_LE((y.in() - want.in()).cwiseAbs().maxCoeff(), 3e-6f);
        if (s.queries > k::detail::attention_few) {
          EXPECT_TRUE(y.in() == want.in());
        }
        steno::matrix<float, steno::dynamic, steno::dynamic> rows(s.keys, s.width);
        for (extent h = 0; h < s.heads; ++h) {
          k::unpack_keys(m, h, rows);
          EXPECT_TRUE(rows == key.in().middleCols(h * s.width, s.width));
        }
        for (const int threads : {2, 3}) {
          if (!steno_test::has_threads) break;
          steno::thread_pool pool(threads);
          steno::context several{steno::executor(pool)};
          guarded z(s.queries, s.heads * s.value_width, 2);
          k::pack_attention(key.in(), v.in(), m, several);
          k::attention(q.in(), m, 0.2f, z.out(), several);
          EXPECT_TRUE(z.in() == y.in()) << threads;
        }
      }
  });
}

TEST(attention, allocates_nothing_when_warm) {
  steno::context c;
  const guarded q = guarded(120, 64, 0).randomise(1);
  guarded y(120, 64, 0);
  for (const bool rounds : {false, true}) {
    const auto run = [&] { k::attention(q.in(), q.in(), q.in(), 2, {.scale = 0.5f, .rounds = rounds}, y.out(), c); };
    run();
    const std::size_t held = c.scratch.capacity();
    run();
    EXPECT_EQ(c.scratch.capacity(), held);
  }
}

// A beam's past lies among the rows of others; heads of keys may lie one after another. The same numbers in the same
// order, so the same bits as from a copy.
TEST(attention, rows_from_a_list_and_heads_one_after_another) {
  const extent heads = 3, d = 20, all = 70;
  each_isa([&](k::isa) {
    for (const extent queries : {extent{1}, extent{8}}) {
      const guarded q = guarded(queries, heads * d, 3).randomise(1);
      const guarded keys = guarded(all, heads * d, 2).randomise(2), values = guarded(all, heads * d, 5).randomise(3);
      std::vector<extent> rows;
      for (extent r = 0; r < 41; ++r) rows.push_back(r * 37 % all);
      const auto count = static_cast<extent>(rows.size());
      guarded few_keys(count, heads * d, 0), few_values(count, heads * d, 0), want(queries, heads * d, 0),
          y(queries, heads * d, 1), z(queries, heads * d, 1);
      steno::matrix<float, steno::dynamic, steno::dynamic> turned_keys(heads * count, d),
          turned_values(heads * count, d);
      for (extent r = 0; r < count; ++r) {
        few_keys.out().row(r) = keys.in().row(rows[static_cast<std::size_t>(r)]);
        few_values.out().row(r) = values.in().row(rows[static_cast<std::size_t>(r)]);
        for (extent h = 0; h < heads; ++h) {
          turned_keys.row(h * count + r) = few_keys.in().block(r, h * d, 1, d);
          turned_values.row(h * count + r) = few_values.in().block(r, h * d, 1, d);
        }
      }
      steno::context c;
      k::attention(q.in(), few_keys.in(), few_values.in(), heads, 0.3f, want.out(), c);
      k::attention(q.in(), keys.in(), values.in(), heads, {.scale = 0.3f, .key_rows = rows.data(), .key_count = count},
                   y.out(), c);
      k::attention(q.in(), steno::core::read(turned_keys.topRows(count)),
                   steno::core::read(turned_values.topRows(count)), heads,
                   {.scale = 0.3f, .key_head_stride = count * d, .value_head_stride = count * d}, z.out(), c);
      EXPECT_TRUE(y.intact() && z.intact());
      EXPECT_TRUE(y.in() == want.in()) << queries;
      EXPECT_TRUE(z.in() == want.in()) << queries;
    }
    // Many queries copy keys and values first.
    const guarded q = guarded(30, heads * d, 3).randomise(1);
    const guarded keys = guarded(heads * all, d, 0).randomise(2), values = guarded(heads * all, d, 0).randomise(3);
    steno::matrix<float, steno::dynamic, steno::dynamic> beside_keys(all, heads * d), beside_values(all, heads * d);
    for (extent h = 0; h < heads; ++h) {
      beside_keys.middleCols(h * d, d) = keys.in().middleRows(h * all, all);
      beside_values.middleCols(h * d, d) = values.in().middleRows(h * all, all);
    }
    guarded want(30, heads * d, 0), y(30, heads * d, 0);
    steno::context c;
    k::attention(q.in(), beside_keys, beside_values, heads, 0.3f, want.out(), c);
    k::attention(q.in(), steno::core::read(keys.in().topRows(all)), steno::core::read(values.in().topRows(all)), heads,
                 {.scale = 0.3f, .key_head_stride = all * d, .value_head_stride = all * d}, y.out(), c);
    EXPECT_TRUE(y.in() == want.in());
  });
}

}  // namespace attention_test
