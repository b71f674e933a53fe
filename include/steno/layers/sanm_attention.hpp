// steno/layers/sanm_attention.hpp - SAN-M: self-attention plus an FSMN memory of the values.
//
//   q, k, v = split(linear_q_k_v(x));  memory = fsmn(v) + v
//   y = linear_out(softmax(q k^T / sqrt(d_head)) v) + memory
//
// FunASR `MultiHeadedAttentionSANM`. x [frames, In] -> y [frames, D]; In differs from D in the first layer. In a stream
// (`forward_chunk`) the keys and values of earlier windows are seen, too; the memory sees the present window alone.
// Tested in tests/parity/sense_voice_test.cpp (golden stages) and tests/models/paraformer_online_test.cpp.
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/linear.hpp>

#include <cmath>

namespace steno::inline STENO_ABI {

/// What a stream's window leaves for the next ones.
struct window_ends {
  extent again = 0;    ///< its last rows, which the next window begins with: they are not kept
  extent kept = -1;    ///< rows kept; negative: all
  bool alone = false;  ///< each window sees itself alone: nothing is kept
};

template <extent In, extent D, extent Heads, extent Taps>
struct sanm_attention {
  static_assert(!is_static(D) || !is_static(Heads) || D % Heads == 0, "steno: the heads must divide the width");
  static constexpr extent input = In, output = D;
  using state = key_value_cache;

  setting<Heads> heads;
  linear<In, times(3, D)> linear_q_k_v;
  linear<D, D> linear_out;
  fsmn<Taps, D> fsmn_block;

  void members(auto&& v) {
    v("attention_heads", heads);
    v("linear_q_k_v", linear_q_k_v);
    v("linear_out", linear_out);
    v("fsmn_block", fsmn_block);
    const extent d = linear_out.output_size();
    v.equal("output of linear_q_k_v and three times linear_out", linear_q_k_v.output_size(), 3 * d);
    v.equal("input and output of linear_out", linear_out.input_size(), d);
    v.equal("widths of fsmn_block and linear_out", fsmn_block.input_size(), d);
    v.equal("width of linear_out and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }
  extent input_size() const noexcept { return linear_q_k_v.input_size(); }
  extent output_size() const noexcept { return linear_out.output_size(); }

  state start() const { return {}; }

  /// y must not be x. With a state, earlier rows are seen and this window's are kept as the record's `ends` says;
  /// without one, each window sees itself alone.
  void operator()(view<const float, dynamic, In> x, view<float, dynamic, D> y, state* past, const auto& env, context& c,
                  const addend& to = {}) const {
    const extent frames = x.rows(), d = output_size();
    workspace::frame scratch(c.scratch);
    auto qkv = scratch.template matrix<dynamic, times(3, D)>(frames, 3 * d);
    linear_q_k_v.multiply(x, qkv, c);
    c.trace("qkv", qkv);
    const auto part = [&](extent i) {
      return make_view<dynamic, D>(static_cast<const float*>(qkv.data()) + i * d, frames, d, 3 * d);
    };

    auto heard = scratch.template matrix<dynamic, D>(frames, d);
    const kernels::attention_options options{.scale = 1.0f / std::sqrt(static_cast<float>(d / heads.get())),
                                             .rounds = linear_q_k_v.quantised()};
    const window_ends ends = ends_of(env);
    if (past == nullptr || ends.alone)
      kernels::attention(read(part(0)), read(part(1)), read(part(2)), heads.get(), options, write(heard), c);
    else
      attend(read(part(0)), qkv.data() + d, options, *past, ends, write(heard), c);
    auto memory = scratch.template matrix<dynamic, D>(frames, d);
    fsmn_block(part(2), memory, nullptr, env, c);
    c.trace("fsmn_conv", memory);
    kernels::add(read(memory), read(part(2)), write(memory));
    if (c.tracing()) {
      auto alone = scratch.template matrix<dynamic, D>(frames, d);
      linear_out(heard, alone, nullptr, env, c);
      c.trace("attn_linear_out", alone);
    }
    // The memory first: (product + memory) + addend, in the original's order.
    auto sum = to.rows == nullptr ? y : as<float, dynamic, D>(memory);
    linear_out(heard, sum, nullptr, env, c, addend{memory.data(), memory.outerStride()});
    if (to.rows == nullptr) return;
    if (to.factor != 1) kernels::scale(read(sum), to.factor, write(sum));
    kernels::add(make_view(to.rows, frames, d, to.stride), read(sum), write(y));
  }

 private:
  template <class Env>
  static window_ends ends_of(const Env& env) noexcept {
    if constexpr (requires { env.ends; })
      return env.ends;
    else
      return {.alone = true};
  }
  // `fresh`: keys and values of the window's rows, side by side, rows 3 D apart.
  void attend(const view<const float>& q, const float* fresh, const kernels::attention_options& options,
              key_value_cache& past, const window_ends& ends, view<float> heard, context& c) const {
    const extent frames = q.rows(), d = output_size();
    const bool first = past.rows() == 0;
    make_view(past.extend(frames, 2 * d), frames, 2 * d) = make_view(fresh, frames, 2 * d, 3 * d);
    const float* const all = past.data();
    kernels::attention(q, make_view(all, past.rows(), d, 2 * d), make_view(all + d, past.rows(), d, 2 * d), heads.get(),
                       options, heard, c);
    // As the original's slices: [:-0] is empty, and what the first window leaves is not cut.
    past.drop_last(ends.again > 0 ? ends.again : frames);
    if (!first) past.keep(ends.kept);
  }
};

}  // namespace steno::inline STENO_ABI
