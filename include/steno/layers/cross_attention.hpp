// steno/layers/cross_attention.hpp - attention of tokens over the encoder's rows.
//
//   k, v = split(linear_k_v(encoded));  y = linear_out(softmax(linear_q(x) k^T / sqrt(d_head)) v)
//
// FunASR `MultiHeadedAttentionCrossAtt` (funasr/models/sanm/attention.py); in a stream (`forward_chunk`) the last rows
// of the pieces before are seen, too. Tested in tests/parity/paraformer_test.cpp and paraformer_online_test.cpp.
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/linear.hpp>

#include <cmath>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads>
struct source_attention {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  using state = key_value_cache;

  setting<Heads> heads;
  linear<D, D> linear_q;
  linear<D, times(2, D)> linear_k_v;
  linear<D, D> linear_out;

  void members(auto&& v) {
    v("attention_heads", heads);
    v("linear_q", linear_q);
    v("linear_k_v", linear_k_v);
    v("linear_out", linear_out);
    const extent d = linear_q.output_size();
    v.equal("output of linear_k_v and twice linear_q", linear_k_v.output_size(), 2 * d);
    for (const extent n :
         {linear_q.input_size(), linear_k_v.input_size(), linear_out.input_size(), linear_out.output_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width of linear_q and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }

  extent input_size() const noexcept { return linear_q.input_size(); }
  extent output_size() const noexcept { return linear_out.output_size(); }
  state start() const { return {}; }

  /// x [tokens, D] -> y [tokens, D]; y may be x. Of the record: `encoded`, the encoder's rows prepared for linear_k_v,
  /// and `keep`. With a state the rows that it kept are seen before these, and the last `keep` of all stay in it.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* kept, const auto& env, context& c,
                  const addend& to = {}) const {
    static_assert(
        requires { env.encoded; }, "steno: this stack's record has no `encoded`, which cross-attention reads");
    const kernels::operand& encoded = env.encoded;
    key_value_cache* const past = kept != nullptr && env.keep > 0 ? kept : nullptr;
    const extent d = linear_q.output_size();
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, D>(x.rows(), d);
    float* const fresh = past != nullptr ? past->extend(encoded.rows, 2 * d)
                                         : scratch.template take<float>(static_cast<std::size_t>(encoded.rows * 2 * d));
    auto kv = make_view<dynamic, times(2, D)>(fresh, encoded.rows, 2 * d);
    auto heard = scratch.template matrix<dynamic, D>(x.rows(), d);
    linear_q.multiply(x, q, c);
    c.trace("cross_q", q);
    linear_k_v.multiply(encoded, kv, c);
    c.trace("cross_kv", kv);
    const float scale = 1.0f / std::sqrt(static_cast<float>(d / heads.get()));
    const float* const at = past != nullptr ? past->data() : fresh;
    const extent frames = past != nullptr ? past->rows() : encoded.rows;
    kernels::attention(read(q), make_view(at, frames, d, 2 * d), make_view(at + d, frames, d, 2 * d), heads.get(),
                       {.scale = scale, .rounds = linear_q.quantised()}, write(heard), c);
    if (past != nullptr) past->keep(env.keep);
    linear_out(as<const float, dynamic, D>(heard), y, nullptr, env, c, to);
  }
};

}  // namespace steno::inline STENO_ABI
