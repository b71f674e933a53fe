// steno/networks/audio_adaptor.hpp - from an encoder's rows to another width: two products and transformer blocks.
//
//   x = linear2(relu(linear1(x)))            k = downsample_rate neighbouring rows are one, zeros behind the last
//   blocks: x += self_attn(norm1(x));  x += w_2(relu(w_1(norm2(x))))
//
// FunASR `Transformer` (models/llm_asr/adaptor.py) with `EncoderLayer` and `MultiHeadedAttention`; eps is 1e-12, there
// are no positions and no norm at the end. Fun-ASR-Nano has it before the language model and before its CTC head.
// Tested on golden stages in tests/parity/fun_asr_nano_test.cpp.
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/repeat.hpp>

#include <cassert>
#include <cmath>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads, extent Ffn>
struct adaptor_block {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  struct attention {
    setting<Heads> heads;
    linear<D, D> linear_q, linear_k, linear_v, linear_out;

    void members(auto&& v) {
      v("attention_heads", heads);
      v("linear_q", linear_q);
      v("linear_k", linear_k);
      v("linear_v", linear_v);
      v("linear_out", linear_out);
      const extent d = linear_out.output_size();
      for (const auto* const p : {&linear_q, &linear_k, &linear_v, &linear_out}) {
        v.equal("widths of the attention's products", p->input_size(), d);
        v.equal("widths of the attention's products", p->output_size(), d);
      }
      v.equal("width and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
    }
  };

  attention self_attn;
  steno::feed_forward<D, Ffn> feed_forward;
  layer_norm<D, 12> norm1, norm2;

  void members(auto&& v) {
    v("self_attn", self_attn);
    v("feed_forward", feed_forward);
    v("norm1", norm1);
    v("norm2", norm2);
    for (const extent n : {self_attn.linear_out.output_size(), feed_forward.input_size(), norm1.input_size()})
      v.equal("widths of a block's parts", n, norm2.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent output_size() const noexcept { return norm2.input_size(); }

  /// x [frames, D] -> y; y may be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    const extent rows = x.rows(), d = input_size(), heads = self_attn.heads.get();
    workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, D>(rows, d);
    const auto same = as<const float, dynamic, D>(part);
    norm1(x, part, c);
    c.trace("norm1", part);
    {
      workspace::frame inner(c.scratch);
      auto q = inner.template matrix<dynamic, D>(rows, d), k = inner.template matrix<dynamic, D>(rows, d),
           v = inner.template matrix<dynamic, D>(rows, d), heard = inner.template matrix<dynamic, D>(rows, d);
      {
        workspace::frame prepared(c.scratch);
        const kernels::operand o = kernels::prepare(read(part), self_attn.linear_q.w.format, prepared, c.run);
        self_attn.linear_q(o, q, c);
        self_attn.linear_k(o, k, c);
        self_attn.linear_v(o, v, c);
      }
      c.trace("q", q);
      c.trace("k", k);
      c.trace("v", v);
      kernels::attention(
          read(q), read(k), read(v), heads,
          {.scale = 1.0f / std::sqrt(static_cast<float>(d / heads)), .rounds = self_attn.linear_q.quantised()},
          write(heard), c);
      self_attn.linear_out(as<const float, dynamic, D>(heard), part, c);
    }
    c.trace("self_attn", part);
    kernels::add(read(x), read(part), write(y));
    norm2(as<const float, dynamic, D>(y), part, c);
    c.trace("norm2", part);
    feed_forward(same, part, c);
    c.trace("ffn", part);
    kernels::add(read(y), read(part), write(y));
    c.trace("out", y);
  }
};

template <extent In, extent Ffn, extent D, extent Heads, extent BlockFfn, extent N, extent Rate = 1>
struct audio_adaptor {
  static constexpr extent input = In, output = D;

  setting<Rate, 1, 1024> downsample_rate;
  linear<times(In, Rate), Ffn> linear1;
  linear<Ffn, D> linear2;
  repeat<N, adaptor_block<D, Heads, BlockFfn>> blocks;

  void members(auto&& v) {
    v("downsample_rate", downsample_rate);
    v("linear1", linear1);
    v("linear2", linear2);
    v("blocks", blocks);
    v.equal("output of linear1 and input of linear2", linear1.output_size(), linear2.input_size());
    const extent k = downsample_rate.get();
    v.equal("input of linear1 and downsample_rate times a width", linear1.input_size(), linear1.input_size() / k * k);
    if (!blocks.empty()) v.equal("widths of linear2 and blocks", linear2.output_size(), blocks.input_size());
  }
  extent input_size() const noexcept { return linear1.input_size() / downsample_rate.get(); }
  extent output_size() const noexcept { return linear2.output_size(); }
  /// Rows of so many frames.
  extent rows(extent frames) const noexcept { return (frames + downsample_rate.get() - 1) / downsample_rate.get(); }

  /// x [frames, In] -> y [rows(frames), D].
  void operator()(view<const float, dynamic, In> x, view<float, dynamic, D> y, context& c) const {
    assert(y.rows() == rows(x.rows()));
    if (x.rows() == 0) return;
    const extent k = downsample_rate.get();
    {
      workspace::frame scratch(c.scratch);
      auto joined = scratch.template matrix<dynamic, times(In, Rate)>(y.rows(), x.cols() * k);
      auto frames = make_view<dynamic, In>(joined.data(), y.rows() * k, x.cols());
      frames.topRows(x.rows()) = x;
      frames.bottomRows(frames.rows() - x.rows()).setZero();
      auto wide = scratch.template matrix<dynamic, Ffn>(y.rows(), linear1.output_size());
      const auto from = as<const float, dynamic, times(In, Rate)>(joined);
      if (c.tracing()) {  // the original shows it before its relu
        linear1(from, wide, c);
        c.trace("linear1", wide);
      }
      linear1(from, wide, c, kernels::activation::relu);
      linear2(as<const float, dynamic, Ffn>(wide), y, c);
    }
    c.trace("linear2", y);
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      auto numbered = c.enter("blocks", static_cast<extent>(i));
      blocks.layers[i](as<const float, dynamic, D>(y), y, c);
    }
    c.trace("out", y);
  }
};

}  // namespace steno::inline STENO_ABI
