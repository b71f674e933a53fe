// steno/networks/fastconformer_encoder.hpp - NeMo's FastConformer: strided convolutions, then conformer blocks.
//
//   x = pre_encode(features) [sqrt(D)];  y = layer(x) ...
//
// `ConformerEncoder.forward_internal` (conformer_encoder.py), evaluation: [frames, Feat] -> [rows(frames), D].
// Distances are computed for any length, so there is no longest clip. A stream's state holds the caches of every layer;
// nothing else carries over, because the subsampling sees its overlap again: the first `drop` rows of a piece are not
// new. Tested in tests/parity/parakeet_test.cpp (golden stages, chunks and caches).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/depthwise_subsampling.hpp>
#include <steno/layers/drop_rows.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/networks/conformer_block.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// What follows pre_encode: rows in, rows out (`bypass_pre_encode` of the original).
template <class Block, extent N>
struct fastconformer_layers : sequence<optional_scale<Block::output>, with_distances<at<"layers", repeat<N, Block>>>> {
};

/// The encoder: features [frames, Feat] -> y [rows(frames), D]. A call takes a fastconformer_env.
template <class Subsampling, class Block, extent N>
struct fastconformer_encoder : sequence<at<"pre_encode", Subsampling>, drop_rows<Block::output>,
                                        shown<"encoder_out", fastconformer_layers<Block, N>>> {};

/// The record of a call: what a whole clip's rows see, and of a stream the rows of a piece that are not new and the
/// rows that caches keep.
struct fastconformer_env {
  attention_window window = {};  ///< what the rows of a whole clip see
  extent drop = 0;               ///< rows of a stream's piece that are not new
  extent keep = -1;              ///< negative: all
};

/// Sizes by name; what is left out is adopted from the file.
struct fastconformer_sizes {
  extent mels = dynamic;         ///< columns of the features
  extent channels = dynamic;     ///< of the subsampling's convolutions
  extent width = dynamic;        ///< of the layers
  extent heads = dynamic;        ///< of self-attention
  extent units = dynamic;        ///< inner width of the feed-forward parts
  extent taps = dynamic;         ///< of the convolutions
  extent layers = dynamic;       ///< conformer blocks
  bias biases = bias::optional;  ///< whether the blocks' products have one
  extent causal = dynamic;       ///< 1: convolutions do not look ahead
  extent normed = dynamic;       ///< 1: convolutions have a layer norm
};
/// The encoder of these sizes.
template <fastconformer_sizes S>
using fastconformer =
    fastconformer_encoder<depthwise_subsampling<S.mels, S.channels, S.width, S.causal>,
                          fastconformer_block<S.width, S.heads, S.units, S.taps, S.causal, S.normed, S.biases>,
                          S.layers>;

/// Extents are adopted from the file.
using fastconformer_encoder_any = fastconformer<fastconformer_sizes{}>;

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
