// steno/layers/relative_attention.hpp - self-attention with the distance between query and key in the score.
//
//   score(i, j) = ((q_i + u) . k_j + (q_i + v) . p_{i - j}) / sqrt(d),  p = linear_pos(table of distances)
//   y = linear_out(softmax(score) v)
//
// NeMo `RelPositionMultiHeadAttention` (multi_head_attention.py), after Dai et al. 2019 (Transformer-XL). The original
// shifts the matrix (q + v) p^T so that columns become keys; here the shift is a stride: with the table from the
// largest distance down, value (i, j) of a block of n queries stands at column n - 1 - i + j, which is a bias whose
// rows lie one value less than a row apart. The cache keeps keys and values; the original keeps the rows they are made
// of. Tested in tests/layers/relative_attention_test.cpp and tests/parity/parakeet_test.cpp (golden stages, caches).
#pragma once
#include <steno/layers/attention_window.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/linear.hpp>

#include <algorithm>
#include <cmath>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads, bias B = bias::added>
struct relative_attention {
  static_assert(!is_static(D) || !is_static(Heads) || D % Heads == 0, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  using state = key_value_cache;  ///< rows [key | value]

  setting<Heads> heads;
  linear<D, D, B> linear_q, linear_k, linear_v, linear_out;
  linear<D, D, bias::none> linear_pos;
  weight<1, D, dtype::f32, use::rows> pos_bias_u, pos_bias_v;  ///< [heads * d]

  void members(auto&& v) {
    v("n_heads", heads);
    v("linear_q", linear_q);
    v("linear_k", linear_k);
    v("linear_v", linear_v);
    v("linear_out", linear_out);
    v("linear_pos", linear_pos);
    v("pos_bias_u", pos_bias_u);
    v("pos_bias_v", pos_bias_v);
    const extent d = linear_out.output_size();
    for (const extent n : {linear_q.input_size(), linear_q.output_size(), linear_k.input_size(), linear_k.output_size(),
                           linear_v.input_size(), linear_v.output_size(), linear_out.input_size(),
                           linear_pos.input_size(), linear_pos.output_size(), pos_bias_u.cols(), pos_bias_v.cols()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width and n_heads times a whole width of a head", d, heads.get() > 0 ? d / heads.get() * heads.get() : 0);
  }
  extent input_size() const noexcept { return linear_q.input_size(); }
  extent output_size() const noexcept { return linear_out.output_size(); }

  /// x [frames, D]; `positions` [keys + frames - 1, D]: distances keys - 1 down to 1 - frames, where keys are the
  /// cached ones and the new ones -> y [frames, D]. With `past` the keys before are seen, too, and the new ones are
  /// appended; the caller trims it. y may be x.
  void operator()(view<const float, dynamic, D> x, const view<const float>& positions, view<float, dynamic, D> y,
                  state* past, const attention_window& window, context& c) const noexcept {
    const extent frames = x.rows(), d = output_size(), n = heads.get(), each = d / n;
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, D>(frames, d);
    float* const fresh = past != nullptr ? past->extend(frames, 2 * d)
                                         : scratch.template take<float>(static_cast<std::size_t>(frames * 2 * d));
    float* const distances = scratch.template take<float>(static_cast<std::size_t>(positions.rows() * d));
    {
      workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(read(x), linear_q.w.format, inner, c.run);
      linear_q(o, q, c);
      linear_k(o, make_view<dynamic, D>(fresh, frames, d, 2 * d), c);
      linear_v(o, make_view<dynamic, D>(fresh + d, frames, d, 2 * d), c);
      auto p = inner.template matrix<dynamic, D>(positions.rows(), d);
      linear_pos(as<const float, dynamic, D>(positions), p, c);
      for (extent h = 0; h < n; ++h)  // head by head, as the products of the blocks read them
        make_view(distances + h * positions.rows() * each, positions.rows(), each) = p.middleCols(h * each, each);
    }
    auto biased = scratch.template matrix<dynamic, D>(frames, d);
    biased = q.rowwise() + Eigen::Map<const Eigen::RowVectorXf>(pos_bias_v.floats(), d);
    q.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(pos_bias_u.floats(), d);

    const extent keys = past != nullptr ? past->rows() : frames;
    const float* all = past != nullptr ? static_cast<const key_value_cache*>(past)->data() : fresh;
    const auto k = make_view(all, keys, d, 2 * d), v = make_view(all + d, keys, d, 2 * d);
    auto heard = scratch.template matrix<dynamic, D>(frames, d);
    const float scale = 1.0f / std::sqrt(static_cast<float>(each));
    // A block's scores of distances, heads x queries x (queries + keys), stay within 32 MiB where it can be.
    const extent room = (extent{1} << 23) / (n * (keys + 1));
    const extent most = window.limited() ? 128 : std::clamp<extent>(room / 96 * 96, 96, 3072);
    each_attention_block(frames, keys, window, most, [&](attention_block b) {
      workspace::frame inner(c.scratch);
      const extent seen = b.to - b.from, wide = seen + b.count - 1;
      // Row of `positions` with the block's largest distance: its last query to its first key.
      const extent largest = frames - b.first - b.count + b.from;
      float* const scores = inner.template take<float>(static_cast<std::size_t>(n * b.count * wide));
      for (extent h = 0; h < n; ++h) {
        const float* const p = distances + (h * positions.rows() + largest) * each;
        kernels::matmul(read(biased.block(b.first, h * each, b.count, each)),
                        weight_ref{.data = reinterpret_cast<const std::byte*>(p), .rows = wide, .cols = each},
                        {.scale = scale}, make_view(scores + h * b.count * wide, b.count, wide), c);
      }
      b.limits.scale = scale;
      b.limits.bias = scores + b.count - 1;
      b.limits.bias_stride = wide - 1;
      b.limits.bias_head_stride = b.count * wide;
      kernels::attention(read(q.middleRows(b.first, b.count)), read(k.middleRows(b.from, seen)),
                         read(v.middleRows(b.from, seen)), n, b.limits, write(heard.middleRows(b.first, b.count)), c);
    });
    linear_out(as<const float, dynamic, D>(heard), y, c);
  }
};

}  // namespace steno::inline STENO_ABI
