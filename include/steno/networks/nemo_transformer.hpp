// steno/networks/nemo_transformer.hpp - NeMo's plain transformer encoder: attention and feed-forward, norm last.
//
//   x = layer_norm_1(x + first_sub_layer(x));  y = layer_norm_2(x + second_sub_layer(x)), in every layer
//   first_sub_layer:  out_projection(softmax(query_net(x) key_net(x)^T / sqrt(d)) value_net(x)), all rows seen
//   second_sub_layer: dense_out(relu(dense_in(x)))
//
// `TransformerEncoder`, `TransformerEncoderBlock.forward_postln`, `MultiHeadAttention`, `PositionWiseFF`
// (nemo/collections/asr/modules/transformer). There are no positions: rows come from an encoder that has them. Tested
// in tests/parity/sortformer_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// What NeMo calls the products of attention.
using nemo_names = attention_names<"query_net", "key_net", "value_net", "out_projection">;

/// `TransformerEncoderBlock`, norm last: x [rows, D] -> y [rows, D].
template <extent D, extent Heads, extent Ffn>
struct nemo_transformer_block
    : sequence<post_norm<at<"layer_norm_1", layer_norm<D>>,
                         at<"first_sub_layer", attention<separate_products<D, Heads, nemo_names>>>>,
               post_norm<at<"layer_norm_2", layer_norm<D>>,
                         at<"second_sub_layer", feed_forward<D, Ffn, relu, "dense_in", "dense_out">>>> {};

/// Sizes by name; what is left out is adopted from the file.
struct nemo_transformer_sizes {
  extent width = dynamic;   ///< of the layers
  extent heads = dynamic;   ///< of self-attention
  extent units = dynamic;   ///< inner width of the feed-forward parts
  extent layers = dynamic;  ///< of self-attention and feed-forward parts
};

/// "layers.0...." in the checkpoint; without "layers" here, because names in GGUF files have up to 63 bytes.
template <nemo_transformer_sizes S>
struct nemo_transformer : repeat<S.layers, nemo_transformer_block<S.width, S.heads, S.units>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
