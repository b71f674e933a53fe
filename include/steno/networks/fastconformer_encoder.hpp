// steno/networks/fastconformer_encoder.hpp - NeMo's FastConformer: strided convolutions, then conformer blocks.
//
//   x = pre_encode(features) [sqrt(D)];  y = layer(x) ...
//
// `ConformerEncoder.forward_internal` (conformer_encoder.py), evaluation: [frames, Feat] -> [rows(frames), D].
// Distances are computed for any length, so there is no longest clip. A stream's state holds the caches of every layer;
// nothing else carries over, because the subsampling sees its overlap again: the first `drop` rows of a piece are not
// new. Tested in tests/parity/parakeet_test.cpp (golden stages, chunks and caches).
#pragma once
#include <steno/layers/depthwise_subsampling.hpp>
#include <steno/layers/drop_rows.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/networks/conformer_block.hpp>

namespace steno::inline STENO_ABI {

/// What follows pre_encode: rows in, rows out (`bypass_pre_encode` of the original).
template <class Block, extent N>
struct fastconformer_layers : sequence<optional_scale<Block::output>, with_distances<at<"layers", repeat<N, Block>>>> {
};

template <class Subsampling, class Block, extent N>
struct fastconformer_encoder : sequence<at<"pre_encode", Subsampling>, drop_rows<Block::output>,
                                        shown<"encoder_out", fastconformer_layers<Block, N>>> {};

/// The record of a call: what a whole clip's rows see, and of a stream the rows of a piece that are not new and the
/// rows that caches keep.
struct fastconformer_env {
  attention_window window = {};
  extent drop = 0;
  extent keep = -1;  ///< negative: all
};

/// The published sizes: 8 heads, feed-forward parts of 4 D, 9 taps, 256 channels in the subsampling. `Streaming`: the
/// convolutions are causal and have a layer norm.
template <extent Mels, extent D, extent Layers, bias B, extent Streaming = 0>
using fastconformer = fastconformer_encoder<depthwise_subsampling<Mels, 256, D, Streaming>,
                                            fastconformer_block<D, 8, 4 * D, 9, Streaming, Streaming, B>, Layers>;

/// Extents are adopted from the file.
using fastconformer_encoder_any =
    fastconformer_encoder<depthwise_subsampling<dynamic, dynamic, dynamic>,
                          fastconformer_block<dynamic, dynamic, dynamic, dynamic>, dynamic>;

}  // namespace steno::inline STENO_ABI
