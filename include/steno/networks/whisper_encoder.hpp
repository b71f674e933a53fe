// steno/networks/whisper_encoder.hpp - Whisper's audio encoder: 30 s of log-mel frames to half as many rows.
//
//   x = gelu(conv2(gelu(conv1(mel)))) + positional_embedding          conv2 has stride 2
//   blocks: x += attn(attn_ln(x));  x += mlp.2(gelu(mlp.0(mlp_ln(x))))
//   y = ln_post(x)
//
// `AudioEncoder`, `ResidualAttentionBlock`, `MultiHeadAttention` (whisper/model.py). Positions are the checkpoint's own
// table (half precision in the published files), not computed anew. Keys have no bias. Tested on golden stages in
// tests/parity/whisper_test.cpp, with random weights in tests/models/whisper_test.cpp.
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/conv1d.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/repeat.hpp>

#include <cassert>
#include <cmath>

namespace steno::inline STENO_ABI {

/// The four products of an attention layer.
template <extent D, extent Heads>
struct whisper_attention {
  static constexpr extent input = D, output = D;
  setting<Heads> heads;
  linear<D, D> query, value, out;
  linear<D, D, bias::none> key;

  void members(auto&& v) {
    v("attention_heads", heads);
    v("query", query);
    v("key", key);
    v("value", value);
    v("out", out);
    const extent d = out.output_size();
    for (const extent n : {query.input_size(), query.output_size(), key.input_size(), key.output_size(),
                           value.input_size(), value.output_size(), out.input_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }
  extent input_size() const noexcept { return query.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  extent head_width() const noexcept { return output_size() / heads.get(); }
  float scale() const noexcept { return 1.0f / std::sqrt(static_cast<float>(head_width())); }
};

/// y = mlp.2(gelu(mlp.0(x))); y may be x.
template <extent D>
struct whisper_mlp {
  static constexpr extent input = D, output = D;
  static constexpr extent inner = times(4, D);
  linear<D, inner> widen;
  linear<inner, D> narrow;

  void members(auto&& v) {
    v("0", widen);
    v("2", narrow);
    v.equal("output of mlp.0 and input of mlp.2", widen.output_size(), narrow.input_size());
    v.equal("input of mlp.0 and output of mlp.2", widen.input_size(), narrow.output_size());
  }
  extent input_size() const noexcept { return widen.input_size(); }
  extent output_size() const noexcept { return narrow.output_size(); }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    workspace::frame scratch(c.scratch);
    auto wide = scratch.template matrix<dynamic, inner>(x.rows(), widen.output_size());
    widen(x, wide, c, kernels::activation::gelu);
    narrow(as<const float, dynamic, inner>(wide), y, c);
  }
};

template <extent D, extent Heads>
struct whisper_encoder_block {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  whisper_attention<D, Heads> attn;
  layer_norm<D> attn_ln, mlp_ln;
  whisper_mlp<D> mlp;

  void members(auto&& v) {
    v("attn", attn);
    v("attn_ln", attn_ln);
    v("mlp", mlp);
    v("mlp_ln", mlp_ln);
    for (const extent n : {attn.input_size(), attn_ln.input_size(), mlp.input_size()})
      v.equal("widths of a block's parts", n, mlp_ln.input_size());
  }
  extent input_size() const noexcept { return attn.input_size(); }
  extent output_size() const noexcept { return mlp.output_size(); }

  /// x [frames, D] -> y; y may be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    const extent rows = x.rows(), d = x.cols();
    workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(rows, d);
    auto q = scratch.template matrix<dynamic, D>(rows, d);
    {
      workspace::frame inner(c.scratch);
      auto k = inner.template matrix<dynamic, D>(rows, d), v = inner.template matrix<dynamic, D>(rows, d);
      attn_ln(x, normed, c);
      {
        workspace::frame prepared(c.scratch);
        const kernels::operand o = kernels::prepare(read(normed), attn.query.w.format, prepared, c.run);
        attn.query(o, q, c);
        attn.key(o, k, c);
        attn.value(o, v, c);
      }
      kernels::attention(read(q), read(k), read(v), attn.heads.get(),
                         {.scale = attn.scale(), .rounds = attn.query.quantised()}, write(normed), c);
    }
    attn.out(as<const float, dynamic, D>(normed), q, c);
    kernels::add(read(x), read(q), write(y));
    mlp_ln(as<const float, dynamic, D>(y), normed, c);
    mlp(as<const float, dynamic, D>(normed), q, c);
    kernels::add(read(y), read(q), write(y));
  }
};

template <extent Mels, extent D, extent Heads, extent N>
struct whisper_encoder {
  static constexpr extent input = Mels, output = D;

  conv1d<Mels, D, 3> conv1;
  conv1d<D, D, 3, 2> conv2;
  weight<is_static(D) ? 1500 : dynamic, D, dtype::f32, use::rows> positional_embedding;
  repeat<N, whisper_encoder_block<D, Heads>> blocks;
  layer_norm<D> ln_post;

  void members(auto&& v) {
    v("conv1", conv1);
    v("conv2", conv2);
    v("positional_embedding", positional_embedding);
    v("blocks", blocks);
    v("ln_post", ln_post);
    for (const extent n : {conv1.output_size(), conv2.input_size(), conv2.output_size(), blocks.output_size(),
                           positional_embedding.cols()})
      v.equal("widths of the encoder's parts", n, ln_post.input_size());
  }
  extent input_size() const noexcept { return conv1.input_size(); }
  extent output_size() const noexcept { return ln_post.output_size(); }
  /// Rows of a window: 1500; the window has twice as many frames.
  extent rows() const noexcept { return positional_embedding.rows(); }

  /// x [2 rows(), Mels] -> y [rows(), D].
  void operator()(view<const float, dynamic, Mels> x, view<float, dynamic, D> y, context& c) const {
    assert(x.rows() == 2 * y.rows() && y.rows() <= rows());
    {
      workspace::frame scratch(c.scratch);
      auto wide = scratch.template matrix<dynamic, D>(x.rows(), output_size());
      conv1(x, wide, c, kernels::activation::gelu);
      show("conv1", wide, c);
      conv2(as<const float, dynamic, D>(wide), y, c, kernels::activation::gelu);
      show("conv2", y, c);
    }
    kernels::add(read(y), read(positional_embedding.values().topRows(y.rows())), write(y));
    c.trace("embed", y);
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      auto numbered = c.enter("blocks", static_cast<extent>(i));
      blocks.layers[i](as<const float, dynamic, D>(y), y, c);
      c.trace("out", y);
    }
    ln_post(as<const float, dynamic, D>(y), y, c);
    c.trace("ln_post", y);
  }

 private:
  // As the original has it: [channels, frames].
  static void show(std::string_view name, const view<float, dynamic, D>& x, context& c) {
    if (!c.tracing()) return;
    workspace::frame scratch(c.scratch);
    auto turned = scratch.matrix(x.cols(), x.rows());
    turned = x.transpose();
    c.trace(name, turned);
  }
};

}  // namespace steno::inline STENO_ABI
