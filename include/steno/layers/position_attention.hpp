// steno/layers/position_attention.hpp - self-attention over frames, perhaps with positions in the score, with a cache.
//
//   score(i, j) = ((q_i + u) . k_j + (q_i + v) . p_j) / sqrt(d),  p = linear_pos(positions of the keys)
//   y = linear_out(softmax(score) v)
//
// WeNet `RelPositionMultiHeadedAttention` (attention.py): despite its name nothing is relative. The shift of
// Transformer-XL is left out there, so p belongs to the key's ABSOLUTE position and the score is one product of double
// width, [q + u, q + v] . [k, p]; keys are cached together with their p. Without positions (linear_pos absent) it is
// `MultiHeadedAttention`. Tested in tests/parity/wenet_test.cpp (golden stages, caches).
#pragma once
#include <steno/layers/attention_window.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/linear.hpp>

#include <cmath>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads, extent Relative = dynamic>
struct position_attention {
  static_assert(!is_static(D) || !is_static(Heads) || D % Heads == 0, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  using state = key_value_cache;

  setting<Heads> heads;
  flag<Relative> relative;  ///< 1: with linear_pos and its biases
  linear<D, D> linear_q, linear_k, linear_v, linear_out;
  linear<D, D, bias::none> linear_pos;
  weight<1, D, dtype::f32, use::rows> pos_bias_u, pos_bias_v;  ///< [heads * d]

  void members(auto&& v) {
    v("attention_heads", heads);
    v("relative_positions", relative);
    v("linear_q", linear_q);
    v("linear_k", linear_k);
    v("linear_v", linear_v);
    v("linear_out", linear_out);
    const extent d = linear_out.output_size();
    for (const extent n : {linear_q.input_size(), linear_q.output_size(), linear_k.input_size(), linear_k.output_size(),
                           linear_v.input_size(), linear_v.output_size(), linear_out.input_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
    if (relative.get() == 0) return;
    v("linear_pos", linear_pos);
    v("pos_bias_u", pos_bias_u);
    v("pos_bias_v", pos_bias_v);
    v.equal("widths of linear_pos and linear_out", linear_pos.output_size(), d);
    v.equal("input and output of linear_pos", linear_pos.input_size(), d);
    v.equal("widths of pos_bias_u and linear_out", pos_bias_u.cols(), d);
    v.equal("widths of pos_bias_v and linear_out", pos_bias_v.cols(), d);
  }
  extent input_size() const noexcept { return linear_q.input_size(); }
  extent output_size() const noexcept { return linear_out.output_size(); }

  state start() const { return {}; }
  void restart(state& s) const noexcept { s.clear(); }

  /// x [frames, D] -> y [frames, D]; y may be x. Of the record: `positions` [frames, D] of these frames (not read
  /// without linear_pos), `window`, and in a stream `keep`. With a state the keys before are seen, too, and the new
  /// ones are appended.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* past, const auto& env, context& c,
                  const addend& to = {}) const {
    static_assert(
        requires { env.positions; }, "steno: this stack's record has no `positions`, which its attention reads");
    const extent frames = x.rows(), d = output_size(), n = heads.get();
    const bool far = relative.get() != 0;
    const extent key_width = far ? 2 * d : d, width = key_width + d;
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, D>(frames, d);
    float* fresh = past != nullptr ? past->extend(frames, width)
                                   : scratch.template take<float>(static_cast<std::size_t>(frames * width));
    {
      workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(read(x), linear_q.w.format, inner, c.run);
      linear_q.multiply(o, q, c);
      linear_v.multiply(o, make_view<dynamic, D>(fresh + key_width, frames, d, width), c);
      if (far) {
        auto k = inner.template matrix<dynamic, D>(frames, d);
        linear_k.multiply(o, k, c);
        auto p = inner.template matrix<dynamic, D>(frames, d);
        linear_pos.multiply(as<const float, dynamic, D>(env.positions), p, c);
        side_by_side(k, nullptr, p, nullptr, n, make_view(fresh, frames, 2 * d, width));
      } else {
        linear_k.multiply(o, make_view<dynamic, D>(fresh, frames, d, width), c);
      }
    }
    view<const float> asked = read(q);
    if (far) {
      auto both = scratch.matrix(frames, 2 * d);
      side_by_side(q, pos_bias_u.floats(), q, pos_bias_v.floats(), n, both);
      new (&asked) view<const float>(read(both));
    }
    const extent keys = past != nullptr ? past->rows() : frames;
    const float* all = past != nullptr ? static_cast<const key_value_cache*>(past)->data() : fresh;
    auto heard = scratch.template matrix<dynamic, D>(frames, d);
    attend_in_window(asked, make_view(all, keys, key_width, width), make_view(all + key_width, keys, d, width), n,
                     {.scale = 1.0f / std::sqrt(static_cast<float>(d / n)), .rounds = linear_q.quantised()},
                     window_of(env), write(heard), c);
    if (past != nullptr) past->keep(keep_of(env));
    linear_out(heard, y, nullptr, env, c, to);
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

}  // namespace steno::inline STENO_ABI
