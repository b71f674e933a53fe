// steno/networks/conformer_block.hpp - one block of a conformer: feed-forward halves around attention and convolution.
//
//   x += ff_macaron(norm(x)) / 2;  x += attention(norm(x));  x += convolution(norm(x));  x += ff(norm(x)) / 2
//   y = norm_final(x)
//
// WeNet `ConformerEncoderLayer` and `TransformerEncoderLayer` (encoder_layer.py), norm first, and NeMo's
// `ConformerLayer` (conformer_modules.py), whose parts have other names. Streaming is the same call with a state.
// Tested in tests/parity/wenet_test.cpp and parakeet_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/conformer_convolution.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/position_attention.hpp>
#include <steno/layers/relative_attention.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The activation is the record's: a setting of the encoder.
template <extent D, extent Heads, extent Ffn, extent Taps, extent Relative = dynamic, extent Causal = dynamic,
          extent Normed = dynamic>
struct wenet_conformer_block
    : sequence<
          half_residual<at<"norm_ff_macaron", layer_norm<D>>,
                        at<"feed_forward_macaron", feed_forward<D, Ffn, activation_of_env>>>,
          residual<at<"norm_mha", layer_norm<D>>, at<"self_attn", position_attention<D, Heads, Relative>>>,
          residual<at<"norm_conv", layer_norm<D>>, at<"conv_module", conformer_convolution<D, Taps, Causal, Normed>>>,
          half_residual<at<"norm_ff", layer_norm<D>>, at<"feed_forward", feed_forward<D, Ffn, activation_of_env>>>,
          at<"norm_final", layer_norm<D>>> {};

/// x += self_attn(norm1(x));  y = x + feed_forward(norm2(x))
template <extent D, extent Heads, extent Ffn, extent Relative = dynamic>
struct wenet_transformer_block
    : sequence<residual<at<"norm1", layer_norm<D>>, at<"self_attn", position_attention<D, Heads, Relative>>>,
               residual<at<"norm2", layer_norm<D>>, at<"feed_forward", feed_forward<D, Ffn, activation_of_env>>>> {};

/// Biases are there or not in the whole block, as the checkpoint's use_bias says.
template <extent D, extent Heads, extent Ffn, extent Taps, extent Causal = dynamic, extent Normed = dynamic,
          bias B = bias::optional>
struct fastconformer_block
    : sequence<half_residual<at<"norm_feed_forward1", layer_norm<D>>,
                             at<"feed_forward1", feed_forward<D, Ffn, silu, "linear1", "linear2", B>>>,
               residual<at<"norm_self_att", layer_norm<D>>, at<"self_attn", relative_attention<D, Heads, B>>>,
               residual<at<"norm_conv", layer_norm<D>>,
                        at<"conv",
                           conformer_convolution<D, Taps, Causal, Normed, silu, convolution_padding::behind_gate, B>>>,
               half_residual<at<"norm_feed_forward2", layer_norm<D>>,
                             at<"feed_forward2", feed_forward<D, Ffn, silu, "linear1", "linear2", B>>>,
               at<"norm_out", layer_norm<D>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
