// steno/networks/whisper_encoder.hpp - Whisper's audio encoder: 30 s of log-mel frames to half as many rows.
//
//   x = gelu(conv2(gelu(conv1(mel)))) + positional_embedding          conv2 has stride 2
//   blocks: x += attn(attn_ln(x));  x += mlp.2(gelu(mlp.0(mlp_ln(x))))
//   y = ln_post(x)
//
// `AudioEncoder`, `ResidualAttentionBlock`, `MultiHeadAttention` (whisper/model.py): [2 rows, Mels] -> [rows, D], rows
// up to 1500. Keys have no bias. Tested on golden stages in tests/parity/whisper_test.cpp, with random weights in
// tests/models/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>
#include <steno/layers/conv1d.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/learned_positions.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Projections of `MultiHeadAttention`, which has no bias for keys.
template <extent D, extent Heads>
using whisper_products =
    separate_products<D, Heads, attention_names<"query", "key", "value", "out", bias::added, bias::none>>;

/// `mlp` of a block: inner width 4 D.
template <extent D>
using whisper_mlp = feed_forward<D, core::times(4, D), gelu, "0", "2">;

/// `ResidualAttentionBlock` without cross-attention: x [rows, D] -> y [rows, D].
template <extent D, extent Heads>
struct whisper_encoder_block
    : sequence<residual<at<"attn_ln", layer_norm<D>>, at<"attn", attention<whisper_products<D, Heads>>>>,
               residual<at<"mlp_ln", layer_norm<D>>, at<"mlp", whisper_mlp<D>>>> {};

/// The encoder: log-mel frames [2 rows, Mels] -> y [rows, D].
template <extent Mels, extent D, extent Heads, extent N>
struct whisper_encoder
    : sequence<at<"conv1", conv1d<Mels, D, 3, 1, gelu>>, at<"conv2", conv1d<D, D, 3, 2, gelu>>,
               at<"positional_embedding", learned_positions<core::is_static(D) ? 1500 : dynamic, D>>,
               at<"blocks", repeat<N, whisper_encoder_block<D, Heads>>>, at<"ln_post", layer_norm<D>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
