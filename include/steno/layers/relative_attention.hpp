// steno/layers/relative_attention.hpp - self-attention with the distance between query and key in the score.
//
//   score(i, j) = ((q_i + u) . k_j + (q_i + v) . p_{i - j}) / sqrt(d),  p = linear_pos(table of distances)
//   y = linear_out(softmax(score) v)
//
// NeMo `RelPositionMultiHeadAttention` (multi_head_attention.py), after Dai et al. 2019 (Transformer-XL). The original
// shifts the matrix (q + v) p^T so that columns become keys; here the shift is a stride: with the table from the
// largest distance down, value (i, j) of a block of n queries stands at column n - 1 - i + j, which is a bias whose
// rows lie one value less than a row apart. The cache keeps keys and values; the original keeps the rows they are made
// of, and projects all distances anew for every chunk. Tested in tests/layers/relative_attention_test.cpp and
// tests/parity/parakeet_test.cpp (golden stages, caches).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>
#include <steno/layers/positions.hpp>

#include <algorithm>
#include <cassert>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The score with distances.
template <extent D>
struct relative_positions {
  /// What linear_pos makes of the distances a stream ever needs, head by head: they are the same for every chunk.
  struct state {
    std::vector<float> distances = {};  ///< [heads][distances][d]; empty: not made yet
    extent farthest = 0;                ///< the first distance
    extent nearest = 0;                 ///< the last one, each less by 1 than the one before
  };

  linear<D, D, bias::none> linear_pos;                               ///< of the positions of distances
  weights::weight<1, D, dtype::f32, weights::use::rows> pos_bias_u;  ///< added to queries for keys, [heads * d]
  weights::weight<1, D, dtype::f32, weights::use::rows> pos_bias_v;  ///< added to queries for distances, [heads * d]

  void members(auto&& v, const auto& products) {
    v("linear_pos", linear_pos);
    v("pos_bias_u", pos_bias_u, core::stored::by_heads(products.head_count()));
    v("pos_bias_v", pos_bias_v, core::stored::by_heads(products.head_count()));
    for (const extent n : {linear_pos.input_size(), linear_pos.output_size(), pos_bias_u.cols(), pos_bias_v.cols()})
      v.equal("widths of the attention's products", n, products.output_size());
  }

  /// Nothing to do: keys are kept as they are, and attend() adds the distances.
  void prepare(attention_rows&, extent, extent, const auto&, core::workspace::frame&, context&) const {}

  /// Of the record: `distances` (see with_distances) and `window`. q is overwritten.
  void attend(view<float> q, const view<const float>& k, const view<const float>& v, extent n,
              const kernels::attention_options& options, state* s, const auto& env, view<float> out, context& c) const {
    static_assert(
        requires { env.distances; }, "steno: this stack's record has no `distances`, which its attention reads");
    if (s != nullptr && env.distances.stays) keep(env.distances, n, *s, c);
    const attention_window window = window_of(env);
    const extent frames = q.rows(), keys = k.rows(), d = q.cols(), each = d / n;
    core::workspace::frame scratch(c.scratch);
    const float* distances = nullptr;  // [heads][count][each], the first `beyond` of them farther than any key
    extent count = keys + frames - 1, beyond = 0;
    if (s != nullptr && !s->distances.empty()) {
      assert(s->farthest >= keys - 1 && s->nearest <= 1 - frames);
      distances = s->distances.data();
      count = s->farthest - s->nearest + 1;
      beyond = s->farthest - (keys - 1);
    } else {
      float* const made = scratch.template take<float>(static_cast<std::size_t>(count * d));
      project(env.distances.rows, n, made, c);
      distances = made;
    }
    auto biased = scratch.matrix(frames, d);
    biased = q.rowwise() + Eigen::Map<const Eigen::RowVectorXf>(pos_bias_v.floats(), d);
    q.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(pos_bias_u.floats(), d);

    // A block's scores of distances, heads x queries x (queries + keys), stay within 32 MiB where it can be.
    const extent room = (extent{1} << 23) / (n * (keys + 1));
    const extent longest = window.limited() ? 128 : std::clamp<extent>(room / 96 * 96, 96, 3072);
    each_attention_block(frames, keys, window, longest, [&](const attention_block& b) {
      core::workspace::frame inner(c.scratch);
      const extent seen = b.to - b.from, wide = seen + b.count - 1;
      // Row of the table with the block's largest distance: its last query to its first key.
      const extent largest = beyond + frames - b.first - b.count + b.from;
      float* const scores = inner.template take<float>(static_cast<std::size_t>(n * b.count * wide));
      // A few queries at a time need few distances that are not theirs.
      constexpr extent together = 48;
      for (extent h = 0; h < n; ++h)
        for (extent i = 0; i < b.count; i += together) {
          const extent now = std::min(together, b.count - i), from = b.count - i - now;
          const float* const p = distances + (h * count + largest + from) * each;
          kernels::matmul(
              core::read(biased.block(b.first + i, h * each, now, each)),
              weights::weight_ref{.data = reinterpret_cast<const std::byte*>(p), .rows = seen + now - 1, .cols = each},
              {.scale = options.scale},
              core::make_view(scores + (h * b.count + i) * wide + from, now, seen + now - 1, wide), c);
        }
      kernels::attention_options o = b.limited(options);
      o.bias = scores + b.count - 1;
      o.bias_stride = wide - 1;
      o.bias_head_stride = b.count * wide;
      kernels::attention(core::read(q.middleRows(b.first, b.count)), core::read(k.middleRows(b.from, seen)),
                         core::read(v.middleRows(b.from, seen)), n, o, core::write(out.middleRows(b.first, b.count)),
                         c);
    });
  }

 private:
  // Prepares a stream for the distances of a table.
  void keep(const distance_table& t, extent heads, state& s, context& c) const {
    s.distances.resize(static_cast<std::size_t>(t.rows.size()));
    s.farthest = t.farthest;
    s.nearest = t.farthest - t.rows.rows() + 1;
    project(t.rows, heads, s.distances.data(), c);
  }
  // linear_pos of `positions`, head by head, as the products of the blocks read it.
  void project(const view<const float>& positions, extent heads, float* to, context& c) const {
    const extent count = positions.rows(), d = linear_pos.output_size(), each = d / heads;
    core::workspace::frame scratch(c.scratch);
    auto p = scratch.template matrix<dynamic, D>(count, d);
    linear_pos.multiply(core::as<const float, dynamic, D>(positions), p, c);
    for (extent h = 0; h < heads; ++h)
      core::make_view(to + h * count * each, count, each) = p.middleCols(h * each, each);
  }
};

/// x [frames, D] -> y [frames, D]; y may be x.
template <extent D, extent Heads, bias B = bias::added>
struct relative_attention
    : attention<separate_products<D, Heads,
                                  attention_names<"linear_q", "linear_k", "linear_v", "linear_out", B, B, "n_heads">>,
                relative_positions<D>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
