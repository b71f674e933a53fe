// steno/networks/u2_encoder.hpp - the unified encoder of WeNet: any chunk size, with caches, or the whole clip at once.
//
//   x = embed(features) sqrt(D) [+ positions];  x = block(x) ...;  y = after_norm(x)
//
// WeNet `BaseEncoder.forward` and `forward_chunk` (encoder.py), normalised features in: [frames, Feat] ->
// [rows(frames), D]. A stream's state holds the attention's and convolution's caches of every block and the number of
// frames so far; nothing else carries over, because the subsampling sees its overlap again. Positions count from the
// start of the stream, as libtorch's runtime counts. Tested in tests/parity/wenet_test.cpp (golden stages, chunks and
// caches).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/conv2d_subsampling.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/layers/with_activation.hpp>
#include <steno/networks/conformer_block.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The encoder: normalised features [frames, Feat] -> y [rows(frames), D]. A call takes a u2_env.
template <class Subsampling, class Block, extent N>
struct u2_encoder : sequence<at<"embed", Subsampling>, scale_by_own_root<Subsampling::output>,
                             with_activation<with_positions<at<"encoders", repeat<N, Block>>>>,
                             at<"after_norm", layer_norm<Block::output>>> {};

/// The record of a call: the chunks of a whole clip, or how many frames the caches of a stream keep.
struct u2_env {
  attention_window window = {};  ///< the chunks of a whole clip
  extent keep = -1;              ///< negative: all
};

/// Sizes by name; what is left out is adopted from the file.
struct u2_encoder_sizes {
  extent features = dynamic;     ///< width of a row of the front end
  extent subsampling = dynamic;  ///< frames from one row to the next: 4, 6 or 8
  extent width = dynamic;        ///< of the layers
  extent heads = dynamic;        ///< of self-attention
  extent units = dynamic;        ///< inner width of the feed-forward parts
  extent taps = dynamic;         ///< of a conformer's convolutions
  extent layers = dynamic;       ///< conformer or transformer blocks
  extent relative = dynamic;     ///< 1: positions are relative
  extent causal = dynamic;       ///< 1: a conformer's convolutions do not look ahead
  extent normed = dynamic;       ///< 1: a conformer's convolutions have a layer norm
};
/// The encoder of these sizes with conformer blocks.
template <u2_encoder_sizes S>
using u2_conformer_encoder =
    u2_encoder<conv2d_subsampling<S.subsampling, S.features, S.width>,
               wenet_conformer_block<S.width, S.heads, S.units, S.taps, S.relative, S.causal, S.normed>, S.layers>;
/// The same with transformer blocks.
template <u2_encoder_sizes S>
using u2_transformer_encoder = u2_encoder<conv2d_subsampling<S.subsampling, S.features, S.width>,
                                          wenet_transformer_block<S.width, S.heads, S.units, S.relative>, S.layers>;

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
