// steno/networks/transformer_block.hpp - one block of a transformer encoder: attention and feed-forward, norm first.
//
//   x += self_attn(norm1(x));  y = x + feed_forward(norm2(x))
//
// WeNet `TransformerEncoderLayer` (encoder_layer.py). The call is that of conformer_block, so an encoder takes either.
// Tested in tests/parity/wenet_test.cpp (golden stages).
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/position_attention.hpp>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads, extent Ffn, extent Relative = dynamic>
struct transformer_block {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  struct state {
    key_value_cache attention;
  };

  layer_norm<D> norm1;
  position_attention<D, Heads, Relative> self_attn;
  layer_norm<D> norm2;
  steno::feed_forward<D, Ffn> feed_forward;

  void members(auto&& v) {
    v("norm1", norm1);
    v("self_attn", self_attn);
    v("norm2", norm2);
    v("feed_forward", feed_forward);
    for (const extent n : {norm1.input_size(), self_attn.input_size(), feed_forward.input_size()})
      v.equal("widths of a block's parts", n, norm2.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent attention_heads() const noexcept { return self_attn.heads.get(); }
  extent output_size() const noexcept { return norm2.output_size(); }

  state start() const { return {}; }

  /// x [frames, D] -> y [frames, D]; y may be x.
  void operator()(view<const float, dynamic, D> x, const view<const float>& positions, view<float, dynamic, D> y,
                  state* past, const attention_window& window, kernels::activation act, context& c) const {
    workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, D>(x.rows(), output_size());
    const auto same = as<const float, dynamic, D>(part);
    norm1(x, part, c);
    self_attn(same, positions, part, past == nullptr ? nullptr : &past->attention, window, c);
    c.trace("attn", part);
    kernels::add(read(x), read(part), write(y));
    norm2(as<const float, dynamic, D>(y), part, c);
    feed_forward(same, part, c, act);
    c.trace("ff", part);
    kernels::add(read(y), read(part), write(y));
    c.trace("out", y);
  }
};

}  // namespace steno::inline STENO_ABI
