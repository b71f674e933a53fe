// steno/networks/audio_adaptor.hpp - from an encoder's rows to another width: two products and transformer blocks.
//
//   x = linear2(relu(linear1(x)))            downsample_rate neighbouring rows are one, zeros behind the last
//   blocks: x += self_attn(norm1(x));  x += w_2(relu(w_1(norm2(x))))
//
// FunASR `Transformer` (models/llm_asr/adaptor.py) with `EncoderLayer` and `MultiHeadedAttention`; eps is 1e-12, there
// are no positions and no norm at the end. [frames, features] -> [rows(frames), width]. Fun-ASR-Nano has it before the
// language model and before its CTC head. Tested on golden stages in tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/activate.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/joined_frames.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `EncoderLayer` of the adaptor, norm first: x [rows, D] -> y [rows, D].
template <extent D, extent Heads, extent Ffn>
struct adaptor_block : sequence<residual<at<"norm1", layer_norm<D, 12>>,
                                         at<"self_attn", attention<separate_products<D, Heads, linear_names>>>>,
                                residual<at<"norm2", layer_norm<D, 12>>, at<"feed_forward", feed_forward<D, Ffn>>>> {};

/// Sizes by name, with the original's; what is left out is adopted from the file.
struct audio_adaptor_sizes {
  extent features = dynamic;  ///< width of the encoder's rows (encoder_dim)
  extent inner = dynamic;     ///< width between linear1 and linear2 (ffn_dim)
  extent width = dynamic;     ///< of the blocks (llm_dim)
  extent heads = dynamic;     ///< of self-attention
  extent units = dynamic;     ///< inner width of the blocks' feed-forward parts
  extent blocks = dynamic;    ///< of self-attention and feed-forward parts
  extent rate = dynamic;      ///< neighbouring rows that are one (downsample_rate)
};

/// The original shows linear1 before its relu, which is therefore a layer of its own.
template <audio_adaptor_sizes S>
struct audio_adaptor : sequence<joined_frames<S.rate, at<"linear1", linear<core::times(S.features, S.rate), S.inner>>>,
                                activate<S.inner, relu>, at<"linear2", linear<S.inner, S.width>>,
                                at<"blocks", repeat<S.blocks, adaptor_block<S.width, S.heads, S.units>>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
