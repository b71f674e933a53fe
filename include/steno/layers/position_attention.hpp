// steno/layers/position_attention.hpp - self-attention over frames, perhaps with positions in the score, with a cache.
//
//   score(i, j) = ((q_i + u) . k_j + (q_i + v) . p_j) / sqrt(d),  p = linear_pos(positions of the keys)
//   y = linear_out(softmax(score) v)
//
// WeNet `RelPositionMultiHeadedAttention` (attention.py): despite its name nothing is relative. The shift of
// Transformer-XL is left out there, so p belongs to the key's ABSOLUTE position and the score is one product of double
// width, [q + u, q + v] . [k, p]; keys are cached together with their p. Without positions (linear_pos absent) it is
// `MultiHeadedAttention`. Tested in tests/parity/wenet_test.cpp (golden stages, caches).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The score with absolute positions, where the file has them.
template <extent D, extent Relative = dynamic>
struct absolute_positions : plain_score {
  core::flag<Relative> relative;                                     ///< 1: with linear_pos and its biases
  linear<D, D, bias::none> linear_pos;                               ///< of the positions; unused where `relative` is 0
  weights::weight<1, D, dtype::f32, weights::use::rows> pos_bias_u;  ///< added to queries for keys, [heads * d]
  weights::weight<1, D, dtype::f32, weights::use::rows> pos_bias_v;  ///< added to queries for positions, [heads * d]

  void members(auto&& v, const auto& products) {
    v("relative_positions", relative);
    if (relative.get() == 0) return;
    v("linear_pos", linear_pos);
    v("pos_bias_u", pos_bias_u, core::stored::by_heads(products.head_count()));
    v("pos_bias_v", pos_bias_v, core::stored::by_heads(products.head_count()));
    const extent d = products.output_size();
    v.equal("widths of linear_pos and linear_out", linear_pos.output_size(), d);
    v.equal("input and output of linear_pos", linear_pos.input_size(), d);
    v.equal("widths of pos_bias_u and linear_out", pos_bias_u.cols(), d);
    v.equal("widths of pos_bias_v and linear_out", pos_bias_v.cols(), d);
  }

  /// Of the record: `positions` [rows, D] of these rows (not read without linear_pos).
  void prepare(attention_rows& r, extent heads, extent, const auto& env, core::workspace::frame& frame,
               context& c) const {
    static_assert(
        requires { env.positions; }, "steno: this stack's record has no `positions`, which its attention reads");
    if (relative.get() == 0) return;
    const extent n = r.q.rows(), d = r.q.cols();
    auto keys = frame.matrix(n, 2 * d), queries = frame.matrix(n, 2 * d);
    core::workspace::frame inner(c.scratch);
    auto p = inner.template matrix<dynamic, D>(n, d);
    linear_pos.multiply(core::as<const float, dynamic, D>(env.positions), p, c);
    side_by_side(core::read(r.k), nullptr, core::read(p), nullptr, heads, keys);
    side_by_side(core::read(r.q), pos_bias_u.floats(), core::read(r.q), pos_bias_v.floats(), heads, queries);
    new (&r.k) view<float>(core::write(keys));
    new (&r.q) view<float>(core::write(queries));
  }

 private:
  // Head by head [a + first, b + second] -> to; the additions are rows of all heads, or null.
  static void side_by_side(const view<const float>& a, const float* first, const view<const float>& b,
                           const float* second, extent n, view<float> to) {
    const extent d = a.cols() / n;
    for (extent t = 0; t < a.rows(); ++t) {
      const float* const from_a = a.data() + t * a.outerStride();
      const float* const from_b = b.data() + t * b.outerStride();
      float* out = to.data() + t * to.outerStride();
      for (extent h = 0; h < n; ++h, out += 2 * d) {
        join(from_a + h * d, first == nullptr ? nullptr : first + h * d, out, d);
        join(from_b + h * d, second == nullptr ? nullptr : second + h * d, out + d, d);
      }
    }
  }
  static void join(const float* x, const float* add, float* y, extent n) noexcept {
    if (add == nullptr)
      std::copy_n(x, n, y);
    else
      for (extent i = 0; i < n; ++i) y[i] = x[i] + add[i];
  }
};

/// x [frames, D] -> y [frames, D]; y may be x.
template <extent D, extent Heads, extent Relative = dynamic>
struct position_attention : attention<separate_products<D, Heads, linear_names>, absolute_positions<D, Relative>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
