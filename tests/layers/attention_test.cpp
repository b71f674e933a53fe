// Attention in its three forms - a clip, a stream, texts that are written - is one layer: what one form computes, the
// others do.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/cross_attention.hpp>
#include <steno/layers/grouped_attention.hpp>
#include <steno/weights/random.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace attention_test {

using namespace steno;

constexpr extent width = 16, heads = 4;
using plain = nn::attention<nn::separate_products<width, heads, nn::linear_names>>;
using rows = matrix<float, dynamic, width>;

rows some_rows(extent n) {
  test::random_numbers random(3);
  rows x(n, width);
  random.fill(std::span(x.data(), static_cast<std::size_t>(x.size())));
  return x;
}
template <class L>
struct made {
  made() { weights::randomise(layer, keep, 1); }
  weights::storage keep;
  L layer;
};
struct stream_env {
  nn::attention_window window = {};
  extent keep = -1, again = 0;
};
struct text_env {
  const nn::kv_sequences& sequences;
};
// Sums of sixteen products of values near 1, in another order.
constexpr float bound = 2e-6f;

TEST(attention, a_stream_sees_what_its_cache_keeps) {
  const made<plain> m;
  context c;
  const rows x = some_rows(24);
  rows whole(24, width);
  m.layer(x, whole, nullptr, stream_env{.window = {.chunk = 4, .left = 2}}, c);
  auto state = m.layer.start();
  for (extent t = 0; t < 24; t += 4) {
    rows y(4, width);
    m.layer(rows(x.middleRows(t, 4)), y, &state, stream_env{.keep = 8}, c);
    EXPECT_LE((y - whole.middleRows(t, 4)).cwiseAbs().maxCoeff(), bound) << t;
  }
  EXPECT_EQ(state.cache.rows(), 8);
  // Rows that come again are not kept; a stream that keeps nothing sees each piece alone.
  m.layer.restart(state);
  rows y(6, width), alone(6, width);
  m.layer(rows(x.topRows(6)), y, &state, stream_env{.again = 2}, c);
  EXPECT_EQ(state.cache.rows(), 4);
  m.layer.restart(state);
  m.layer(rows(x.topRows(6)), alone, &state, stream_env{.keep = 0}, c);
  EXPECT_EQ(state.cache.rows(), 0);
  EXPECT_EQ(y, alone);
}

TEST(attention, a_text_in_pieces_in_beams_and_among_others_is_the_same) {
  const made<plain> m;
  context c;
  const rows x = some_rows(20);
  nn::kv_sequences whole;
  whole.begin_with(std::vector<extent>{0, 20});
  rows want(20, width);
  m.layer(x, want, nullptr, text_env{whole}, c);
  // What a row sees does not depend on what follows.
  nn::kv_sequences two;
  two.begin_with(std::vector<extent>{0, 12, 20});
  rows cut(20, width);
  m.layer(x, cut, nullptr, text_env{two}, c);
  EXPECT_LE((cut.topRows(12) - want.topRows(12)).cwiseAbs().maxCoeff(), bound);
  EXPECT_GT((cut.bottomRows(8) - want.bottomRows(8)).cwiseAbs().maxCoeff(), bound);

  for (const dtype format : {dtype::f32, dtype::f16, dtype::q8_0}) {
    SCOPED_TRACE(core::info(format).name);
    // A half is off by 2^-12 of a value, a byte by 1/254 of a head's largest.
    const float wide = format == dtype::f32 ? bound : format == dtype::f16 ? 1e-3f : 2e-2f;
    nn::kv_sequences s;
    s.format = format;
    auto state = m.layer.start();
    rows first(10, width), beams(3, width);
    s.extend(10);
    m.layer(rows(x.topRows(10)), first, &state, text_env{s}, c);
    EXPECT_LE((first - want.topRows(10)).cwiseAbs().maxCoeff(), wide);
    s.fork(std::vector<int>{0, 0, 0});
    for (extent t = 10; t < 20; ++t) {
      // Beam 1 goes on with the text, the others go astray and come back.
      rows next(3, width);
      next.row(0) = x.row(1);
      next.row(1) = x.row(t);
      next.row(2) = x.row(2);
      s.extend_each(3);
      m.layer(next, beams, &state, text_env{s}, c);
      EXPECT_LE((beams.row(1) - want.row(t)).cwiseAbs().maxCoeff(), wide) << t;
      s.fork(t % 2 == 0 ? std::vector<int>{1, 1, 1} : std::vector<int>{2, 1, 0});
    }
    // More rows than are read in place, of a text that lies scattered.
    rows more(12, width), after(12, width);
    for (extent i = 0; i < 12; ++i) more.row(i) = x.row(i);
    s.extend(12, 1);
    m.layer(more, after, &state, text_env{s}, c);
    nn::kv_sequences all;
    all.begin_with(std::vector<extent>{0, 32});
    rows joined(32, width), expected(32, width);
    joined << x, more;
    m.layer(joined, expected, nullptr, text_env{all}, c);
    EXPECT_LE((after - expected.bottomRows(12)).cwiseAbs().maxCoeff(), wide);
  }
}

TEST(attention, a_call_that_failed_is_not_gone_on_from) {
  const made<plain> m;
  context c;
  const rows x = some_rows(4);
  rows y(4, width);
  auto state = m.layer.start();
  nn::kv_sequences s;
  s.extend(4);  // a call that never came
  s.extend(4);
  EXPECT_THROW(m.layer(x, y, &state, text_env{s}, c), error);
  s.clear();
  s.extend(4);
  m.layer(x, y, &state, text_env{s}, c);
}

// Heads that share keys are heads with equal keys.
TEST(attention, heads_in_groups) {
  constexpr extent w = 4;
  const made<nn::grouped_attention<width, 4, 2, w>> grouped;
  made<nn::grouped_attention<width, 4, 4, w>> full;
  full.layer.products.q_proj = grouped.layer.products.q_proj;
  full.layer.products.out = grouped.layer.products.out;
  full.layer.products.q_norm = grouped.layer.products.q_norm;
  full.layer.products.k_norm = grouped.layer.products.k_norm;
  const auto floats = [](const auto& p) {
    return core::make_view(reinterpret_cast<const float*>(p.data), p.rows(), p.cols());
  };
  matrix<float, 16, width> k, v;
  for (extent h = 0; h < 4; ++h) {
    k.middleRows(h * w, w) = floats(grouped.layer.products.k_proj.w).middleRows(h / 2 * w, w);
    v.middleRows(h * w, w) = floats(grouped.layer.products.v_proj.w).middleRows(h / 2 * w, w);
  }
  ASSERT_TRUE(full.layer.products.k_proj.w.assign(k) && full.layer.products.v_proj.w.assign(v));
  context c;
  const rows x = some_rows(9);
  const auto run = [&](const auto& layer) {
    rows y(9, width);
    nn::kv_sequences s;
    s.extend(9);
    auto state = layer.start();
    core::workspace::frame frame(c.scratch);
    const nn::rotary_angles angles(s, w, 10000, frame, c.run);
    layer(x, y, &state, nn::rotary_env{s, angles}, c);
    return y;
  };
  EXPECT_LE((run(grouped.layer) - run(full.layer)).cwiseAbs().maxCoeff(), bound);
}

// Keys and values of an encoder: made at each call, kept as rows, or packed.
TEST(cross_attention, kept_rows_are_those_that_each_call_makes) {
  const made<nn::cross_attention<nn::separate_products<width, heads, nn::linear_names>>> m;
  context c;
  const rows x = some_rows(11), encoded = some_rows(200);
  rows want(11, width), y(11, width);
  core::workspace::frame frame(c.scratch);
  struct direct {
    kernels::operand encoded;
  };
  const kernels::operand o = kernels::prepare(core::read(encoded), dtype::f32, frame, c.run);
  m.layer(x, want, nullptr, direct{o}, c);
  for (const bool packed : {false, true}) {
    nn::kv_cache kept;
    m.layer.keep_encoded(o, packed, kept, c);
    EXPECT_EQ(kept.rows(), 200);
    struct of_kept {
      const nn::kv_cache& encoded;
    };
    m.layer(x, y, nullptr, of_kept{kept}, c);
    EXPECT_LE((y - want).cwiseAbs().maxCoeff(), bound) << packed;
  }
}

}  // namespace attention_test
