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
#pragma once
#include <steno/layers/attention_window.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/positions.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads, bias B = bias::added>
struct relative_attention {
  static_assert(!is_static(D) || !is_static(Heads) || D % Heads == 0, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  /// Rows [key | value], and what linear_pos makes of the distances a stream ever needs, head by head: they are the
  /// same for every chunk. Copyable.
  struct state : key_value_cache {
    std::vector<float> distances = {};
    extent farthest = 0, nearest = 0;  ///< distances farthest, farthest - 1, ... nearest; none where they are equal
  };

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
    v.equal("width and n_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }
  extent input_size() const noexcept { return linear_q.input_size(); }
  extent output_size() const noexcept { return linear_out.output_size(); }

  state start() const { return {}; }

  /// x [frames, D] -> y [frames, D]; y may be x. Of the record: `distances` (see with_distances), `window`, and in a
  /// stream `keep`. With a state the keys before are seen, too, and the new ones are appended.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* past, const auto& env, context& c,
                  const addend& to = {}) const {
    static_assert(
        requires { env.distances; }, "steno: this stack's record has no `distances`, which its attention reads");
    const attention_window window = window_of(env);
    if (past != nullptr && env.distances.stays) prepare(env.distances, *past, c);
    const extent frames = x.rows(), d = output_size(), n = heads.get(), each = d / n;
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, D>(frames, d);
    float* const fresh = past != nullptr ? past->extend(frames, 2 * d)
                                         : scratch.template take<float>(static_cast<std::size_t>(frames * 2 * d));
    {
      workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(read(x), linear_q.w.format, inner, c.run);
      linear_q.multiply(o, q, c);
      linear_k.multiply(o, make_view<dynamic, D>(fresh, frames, d, 2 * d), c);
      linear_v.multiply(o, make_view<dynamic, D>(fresh + d, frames, d, 2 * d), c);
    }
    const extent keys = past != nullptr ? past->rows() : frames;
    const float* distances = nullptr;  // [heads][count][each], the first `beyond` of them farther than any key
    extent count = keys + frames - 1, beyond = 0;
    if (past != nullptr && !past->distances.empty()) {
      assert(past->farthest >= keys - 1 && past->nearest <= 1 - frames);
      distances = past->distances.data();
      count = past->farthest - past->nearest + 1;
      beyond = past->farthest - (keys - 1);
    } else {
      float* const made = scratch.template take<float>(static_cast<std::size_t>(count * d));
      project(env.distances.rows, made, c);
      distances = made;
    }
    auto biased = scratch.template matrix<dynamic, D>(frames, d);
    biased = q.rowwise() + Eigen::Map<const Eigen::RowVectorXf>(pos_bias_v.floats(), d);
    q.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(pos_bias_u.floats(), d);

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
      // Row of the table with the block's largest distance: its last query to its first key.
      const extent largest = beyond + frames - b.first - b.count + b.from;
      float* const scores = inner.template take<float>(static_cast<std::size_t>(n * b.count * wide));
      // A few queries at a time need few distances that are not theirs.
      constexpr extent together = 48;
      for (extent h = 0; h < n; ++h)
        for (extent i = 0; i < b.count; i += together) {
          const extent some = std::min(together, b.count - i), from = b.count - i - some;
          const float* const p = distances + (h * count + largest + from) * each;
          kernels::matmul(
              read(biased.block(b.first + i, h * each, some, each)),
              weight_ref{.data = reinterpret_cast<const std::byte*>(p), .rows = seen + some - 1, .cols = each},
              {.scale = scale}, make_view(scores + (h * b.count + i) * wide + from, some, seen + some - 1, wide), c);
        }
      b.limits.scale = scale;
      b.limits.rounds = linear_q.quantised();
      b.limits.bias = scores + b.count - 1;
      b.limits.bias_stride = wide - 1;
      b.limits.bias_head_stride = b.count * wide;
      kernels::attention(read(q.middleRows(b.first, b.count)), read(k.middleRows(b.from, seen)),
                         read(v.middleRows(b.from, seen)), n, b.limits, write(heard.middleRows(b.first, b.count)), c);
    });
    if (past != nullptr) past->keep(keep_of(env));
    linear_out(as<const float, dynamic, D>(heard), y, nullptr, env, c, to);
  }

 private:
  // Prepares a stream for the distances of a table.
  void prepare(const distance_table& t, state& s, context& c) const {
    s.distances.resize(static_cast<std::size_t>(t.rows.size()));
    s.farthest = t.farthest;
    s.nearest = t.farthest - t.rows.rows() + 1;
    project(t.rows, s.distances.data(), c);
  }
  // linear_pos of `positions`, head by head, as the products of the blocks read it.
  void project(const view<const float>& positions, float* to, context& c) const {
    const extent count = positions.rows(), each = output_size() / heads.get();
    workspace::frame scratch(c.scratch);
    auto p = scratch.template matrix<dynamic, D>(count, output_size());
    linear_pos.multiply(as<const float, dynamic, D>(positions), p, c);
    for (extent h = 0; h < heads.get(); ++h)
      make_view(to + h * count * each, count, each) = p.middleCols(h * each, each);
  }
};

}  // namespace steno::inline STENO_ABI
