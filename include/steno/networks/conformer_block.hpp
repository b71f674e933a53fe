// steno/networks/conformer_block.hpp - one block of a conformer: feed-forward halves around attention and convolution.
//
//   x += ff_macaron(norm(x)) / 2;  x += attention(norm(x));  x += convolution(norm(x));  x += ff(norm(x)) / 2
//   y = norm_final(x)
//
// WeNet `ConformerEncoderLayer` (encoder_layer.py), norm first. The sub-layers are arguments, as are the names of the
// members, so other conformers (FastConformer) are this block with other parts:
//   Attention    a(x, positions, y, state*, window, context), Attention::state
//   Convolution  f(x, y, state*, activation, context), Convolution::state, start()
//   FeedForward  f(x, y, context, activation)
// Streaming is the same call with a state. Tested in tests/parity/wenet_test.cpp (golden stages).
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/conformer_convolution.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/position_attention.hpp>

#include <string_view>

namespace steno::inline STENO_ABI {

/// Members of a block as WeNet calls them.
struct wenet_block_names {
  static constexpr std::string_view norm_first = "norm_ff_macaron", first = "feed_forward_macaron",
                                    norm_attention = "norm_mha", attention = "self_attn",
                                    norm_convolution = "norm_conv", convolution = "conv_module",
                                    norm_second = "norm_ff", second = "feed_forward", norm_final = "norm_final";
};

template <class Names, class FeedForward, class Attention, class Convolution, class Norm>
struct conformer_block {
  static constexpr extent input = Norm::input, output = Norm::output;
  static constexpr bool in_place = true;

  /// What a stream carries from chunk to chunk.
  struct state {
    typename Attention::state attention;
    typename Convolution::state convolution;
  };

  Norm norm_first;
  FeedForward first;
  Norm norm_attention;
  Attention attention;
  Norm norm_convolution;
  Convolution convolution;
  Norm norm_second;
  FeedForward second;
  Norm norm_final;

  void members(auto&& v) {
    v(Names::norm_first, norm_first);
    v(Names::first, first);
    v(Names::norm_attention, norm_attention);
    v(Names::attention, attention);
    v(Names::norm_convolution, norm_convolution);
    v(Names::convolution, convolution);
    v(Names::norm_second, norm_second);
    v(Names::second, second);
    v(Names::norm_final, norm_final);
    const extent d = norm_final.input_size();
    for (const extent n :
         {norm_first.input_size(), first.input_size(), norm_attention.input_size(), attention.input_size(),
          norm_convolution.input_size(), convolution.input_size(), norm_second.input_size(), second.input_size()})
      v.equal("widths of a block's parts", n, d);
  }
  extent input_size() const noexcept { return norm_first.input_size(); }
  extent attention_heads() const noexcept { return attention.heads.get(); }
  extent output_size() const noexcept { return norm_final.output_size(); }

  state start() const { return {{}, convolution.start()}; }

  /// x [frames, D] -> y [frames, D]; y may be x. `positions` are the attention's; `past` is null for a whole clip.
  void operator()(view<const float, dynamic, input> x, const view<const float>& positions,
                  view<float, dynamic, output> y, state* past, const attention_window& window, kernels::activation act,
                  context& c) const {
    workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, output>(x.rows(), output_size());
    const auto same = as<const float, dynamic, output>(part);

    norm_first(x, part, c);
    first(same, part, c, act);
    c.trace("macaron", part);
    add_half(read(x), write(part), write(y));

    const auto now = as<const float, dynamic, output>(y);
    norm_attention(now, part, c);
    c.trace("attn_in", part);
    attention(same, positions, part, past == nullptr ? nullptr : &past->attention, window, c);
    c.trace("attn", part);
    kernels::add(read(y), read(part), write(y));

    norm_convolution(now, part, c);
    c.trace("conv_in", part);
    convolution(same, part, past == nullptr ? nullptr : &past->convolution, act, c);
    c.trace("conv", part);
    kernels::add(read(y), read(part), write(y));

    norm_second(now, part, c);
    second(same, part, c, act);
    c.trace("ff", part);
    add_half(read(y), write(part), write(y));
    norm_final(now, y, c);
    c.trace("out", y);
  }

 private:
  static void add_half(const view<const float>& x, view<float> part, view<float> y) {
    kernels::scale(read(part), 0.5f, part);
    kernels::add(x, read(part), y);
  }
};

/// WeNet's own.
template <extent D, extent Heads, extent Ffn, extent Taps, extent Relative = dynamic, extent Causal = dynamic,
          extent Normed = dynamic>
using wenet_conformer_block =
    conformer_block<wenet_block_names, feed_forward<D, Ffn>, position_attention<D, Heads, Relative>,
                    conformer_convolution<D, Taps, Causal, Normed>, layer_norm<D>>;

}  // namespace steno::inline STENO_ABI
