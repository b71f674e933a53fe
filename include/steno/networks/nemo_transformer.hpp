// steno/networks/nemo_transformer.hpp - NeMo's plain transformer encoder: attention and feed-forward, norm last.
//
//   x = layer_norm_1(x + first_sub_layer(x));  y = layer_norm_2(x + second_sub_layer(x)), in every layer
//   first_sub_layer:  out_projection(softmax(query_net(x) key_net(x)^T / sqrt(d)) value_net(x)), all rows seen
//   second_sub_layer: dense_out(relu(dense_in(x)))
//
// `TransformerEncoder`, `TransformerEncoderBlock.forward_postln`, `MultiHeadAttention`, `PositionWiseFF`
// (nemo/collections/asr/modules/transformer). There are no positions: rows come from an encoder that has them. Tested
// in tests/parity/sortformer_test.cpp (golden stages).
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/repeat.hpp>

#include <cmath>
#include <string_view>

namespace steno::inline STENO_ABI {

struct nemo_dense_names {
  static constexpr std::string_view first = "dense_in", second = "dense_out";
};

template <extent D, extent Heads>
struct nemo_attention {
  static constexpr extent input = D, output = D;

  setting<Heads> heads;
  linear<D, D> query_net, key_net, value_net, out_projection;

  void members(auto&& v) {
    v("attention_heads", heads);
    v("query_net", query_net);
    v("key_net", key_net);
    v("value_net", value_net);
    v("out_projection", out_projection);
    const extent d = out_projection.output_size();
    for (const extent n : {query_net.input_size(), query_net.output_size(), key_net.input_size(), key_net.output_size(),
                           value_net.input_size(), value_net.output_size(), out_projection.input_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }
  extent input_size() const noexcept { return query_net.input_size(); }
  extent output_size() const noexcept { return out_projection.output_size(); }

  /// x [rows, D] -> y [rows, D]; y may be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    const extent rows = x.rows(), d = output_size();
    workspace::frame scratch(c.scratch);
    auto heard = scratch.template matrix<dynamic, D>(rows, d);
    {
      workspace::frame inner(c.scratch);
      auto q = inner.template matrix<dynamic, D>(rows, d), k = inner.template matrix<dynamic, D>(rows, d),
           v = inner.template matrix<dynamic, D>(rows, d);
      {
        workspace::frame prepared(c.scratch);
        const kernels::operand o = kernels::prepare(read(x), query_net.w.format, prepared, c.run);
        query_net(o, q, c);
        key_net(o, k, c);
        value_net(o, v, c);
      }
      const float scale = 1.0f / std::sqrt(static_cast<float>(d / heads.get()));
      kernels::attention(read(q), read(k), read(v), heads.get(), {.scale = scale, .rounds = query_net.quantised()},
                         write(heard), c);
    }
    out_projection(as<const float, dynamic, D>(heard), y, c);
  }
};

template <extent D, extent Heads, extent Ffn>
struct nemo_transformer_block {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  layer_norm<D> layer_norm_1, layer_norm_2;
  nemo_attention<D, Heads> first_sub_layer;
  feed_forward<D, Ffn, kernels::activation::relu, nemo_dense_names> second_sub_layer;

  void members(auto&& v) {
    v("layer_norm_1", layer_norm_1);
    v("first_sub_layer", first_sub_layer);
    v("layer_norm_2", layer_norm_2);
    v("second_sub_layer", second_sub_layer);
    for (const extent n : {layer_norm_1.input_size(), first_sub_layer.input_size(), second_sub_layer.input_size()})
      v.equal("widths of a block's parts", n, layer_norm_2.input_size());
  }
  extent input_size() const noexcept { return layer_norm_1.input_size(); }
  extent output_size() const noexcept { return layer_norm_2.output_size(); }

  /// x [rows, D] -> y [rows, D]; y may be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, D>(x.rows(), output_size());
    const auto now = as<const float, dynamic, D>(y);
    first_sub_layer(x, part, c);
    kernels::add(read(x), read(part), write(y));
    layer_norm_1(now, y, c);
    second_sub_layer(now, part, c);
    kernels::add(read(y), read(part), write(y));
    layer_norm_2(now, y, c);
  }
};

template <extent D, extent Heads, extent Ffn, extent N>
struct nemo_transformer {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  /// "layers.0...." in the checkpoint; without "layers" here, because names in GGUF files have at most 63 bytes.
  repeat<N, nemo_transformer_block<D, Heads, Ffn>> layers;

  void members(auto&& v) { v("", layers); }
  extent input_size() const noexcept { return layers.input_size(); }
  extent output_size() const noexcept { return layers.output_size(); }

  /// x [rows, D] in place.
  void operator()(view<float, dynamic, D> x, context& c) const {
    for (std::size_t i = 0; i < layers.layers.size(); ++i) {
      layers.layers[i](as<const float, dynamic, D>(x), x, c);
      auto scope = c.enter("layer", static_cast<extent>(i));
      c.trace("out", x);
    }
  }
};

}  // namespace steno::inline STENO_ABI
