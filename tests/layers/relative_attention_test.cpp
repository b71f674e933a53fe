// Relative attention against its formula with a row of distances for every pair, in windows, and with a cache.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/positions.hpp>
#include <steno/layers/relative_attention.hpp>

#include "support/memory_source.hpp"

#include <steno/weights/binder.hpp>

#include <gtest/gtest.h>

namespace relative_attention_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;
constexpr extent d = 8, heads = 2;

struct weights_of {
  test::memory_source source;
  weights::storage keep;
  nn::relative_attention<dynamic, dynamic> layer;

  explicit weights_of(bool biases) {
    int n = 0;
    const auto values = [&](extent count) {
      std::vector<float> v;
      for (extent i = 0; i < count; ++i) v.push_back(static_cast<float>((n++ * 29) % 31 - 15) / 20.0f);
      return v;
    };
    for (const char* name : {"linear_q", "linear_k", "linear_v", "linear_out", "linear_pos"}) {
      source.add(std::string("a.") + name + ".weight", {d, d}, values(d * d));
      if (biases && name != std::string("linear_pos")) source.add(std::string("a.") + name + ".bias", {d}, values(d));
    }
    for (const char* name : {"pos_bias_u", "pos_bias_v"}) source.add(std::string("a.") + name, {d}, values(d));
    source.set("m.a.n_heads", heads);
  }
};
template <class L>
struct holder {
  L a;
  void members(auto&& v) { v("a", a); }
};

table positions(extent keys, extent frames, context& c) {
  table p(keys + frames - 1, d);
  nn::write_positions(keys - 1, p, c, -1);
  return p;
}

// Row by row in double precision, from x of all frames; `sees(i, j)` is the mask.
template <class L, class F>
table by_definition(const L& l, const table& x, F&& sees) {
  using wide = matrix<double, dynamic, dynamic>;
  const auto apply = [](const auto& lin, const table& in) {
    wide y = in.cast<double>() *
             core::make_view(reinterpret_cast<const float*>(lin.w.data), d, d).transpose().template cast<double>();
    if (lin.b) y.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(lin.b.floats(), d).template cast<double>();
    return y;
  };
  const wide q = apply(l.products.query, x), k = apply(l.products.key, x), v = apply(l.products.value, x);
  const extent n = x.rows(), each = d / heads;
  context c;
  const wide p = apply(l.score.linear_pos, positions(n, n, c));
  wide mixed(n, d);
  for (extent h = 0; h < heads; ++h)
    for (extent i = 0; i < n; ++i) {
      std::vector<double> e(static_cast<std::size_t>(n), 0.0);
      double sum = 0;
      for (extent j = 0; j < n; ++j) {
        if (!sees(i, j)) continue;
        double s = 0;
        for (extent m = h * each; m < (h + 1) * each; ++m)
          s += (q(i, m) + static_cast<double>(l.score.pos_bias_u.floats()[m])) * k(j, m) +
               (q(i, m) + static_cast<double>(l.score.pos_bias_v.floats()[m])) * p(n - 1 - (i - j), m);
        sum += e[static_cast<std::size_t>(j)] = std::exp(s / std::sqrt(static_cast<double>(each)));
      }
      mixed.block(i, h * each, 1, each).setZero();
      for (extent j = 0; j < n; ++j)
        mixed.block(i, h * each, 1, each) += e[static_cast<std::size_t>(j)] / sum * v.block(j, h * each, 1, each);
    }
  return apply(l.products.out, mixed.cast<float>()).template cast<float>();
}

// Sums of eight products in single precision.
TEST(relative_attention, formula_in_windows_and_with_a_cache) {
  for (const bool biases : {true, false}) {
    holder<nn::relative_attention<dynamic, dynamic, nn::bias::optional>> h;
    weights_of w(biases);
    weights::bind(h, w.source, w.keep, "m");
    const extent n = 13;
    table x(n, d);
    for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>((i * 17) % 19 - 9) / 9.0f;
    context c;
    table y(n, d);
    struct env {
      nn::distance_table distances;
      nn::attention_window window = {};
      extent keep = -1;
    };
    const table whole = positions(n, n, c);
    const auto run = [&](const nn::attention_window& window) {
      h.a(x, y, nullptr, env{.distances = {.rows = core::read(whole), .farthest = n - 1}, .window = window}, c);
    };
    run({});
    EXPECT_LE((y - by_definition(h.a, x, [](extent, extent) { return true; })).cwiseAbs().maxCoeff(), 1e-5f);
    run({.back = 3, .ahead = 1});
    EXPECT_LE(
        (y - by_definition(h.a, x, [](extent i, extent j) { return j >= i - 3 && j <= i + 1; })).cwiseAbs().maxCoeff(),
        1e-5f);
    run({.chunk = 2, .left = 2});
    const table chunked = y;
    EXPECT_LE((y - by_definition(h.a, x, [](extent i, extent j) { return j / 2 <= i / 2 && j / 2 >= i / 2 - 2; }))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-5f);
    // Chunk by chunk with a cache of two chunks: the same rows, with distances projected each time or once for all.
    for (const bool prepared : {false, true}) {
      decltype(h.a)::state state;
      for (extent t = 0; t < n; t += 2) {
        const extent count = std::min<extent>(2, n - t);
        const table part = x.middleRows(t, count);
        table out(count, d);
        const extent keys = prepared ? 6 : state.cache.rows() + count;
        const table distances = prepared && t > 0 ? table(0, d) : positions(keys, prepared ? 2 : count, c);
        const nn::distance_table given{
            .rows = core::read(distances), .farthest = keys - 1, .stays = prepared && t == 0};
        h.a(part, out, &state, env{.distances = given, .keep = 4}, c);
        EXPECT_LE((out - chunked.middleRows(t, count)).cwiseAbs().maxCoeff(), 1e-5f) << t << prepared;
      }
    }
  }
}

}  // namespace relative_attention_test
