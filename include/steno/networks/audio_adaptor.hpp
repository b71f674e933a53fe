// steno/networks/audio_adaptor.hpp - from an encoder's rows to another width: two products and transformer blocks.
//
//   x = linear2(relu(linear1(x)))            downsample_rate neighbouring rows are one, zeros behind the last
//   blocks: x += self_attn(norm1(x));  x += w_2(relu(w_1(norm2(x))))
//
// FunASR `Transformer` (models/llm_asr/adaptor.py) with `EncoderLayer` and `MultiHeadedAttention`; eps is 1e-12, there
// are no positions and no norm at the end. [frames, In] -> [rows(frames), D]. Fun-ASR-Nano has it before the language
// model and before its CTC head. Tested on golden stages in tests/parity/fun_asr_nano_test.cpp.
#pragma once
#include <steno/layers/activate.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/joined_frames.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {

/// `EncoderLayer` of the adaptor, norm first: x [rows, D] -> y [rows, D].
template <extent D, extent Heads, extent Ffn>
struct adaptor_block : sequence<residual<at<"norm1", layer_norm<D, 12>>,
                                         at<"self_attn", attention<separate_products<D, Heads, linear_names>>>>,
                                residual<at<"norm2", layer_norm<D, 12>>, at<"feed_forward", feed_forward<D, Ffn>>>> {};

/// The original shows linear1 before its relu, which is therefore a layer of its own.
template <extent In, extent Ffn, extent D, extent Heads, extent BlockFfn, extent N, extent Rate = 1>
struct audio_adaptor
    : sequence<joined_frames<Rate, at<"linear1", linear<times(In, Rate), Ffn>>>, activate<Ffn, relu>,
               at<"linear2", linear<Ffn, D>>, at<"blocks", repeat<N, adaptor_block<D, Heads, BlockFfn>>>> {};

}  // namespace STENO_ABI
}  // namespace steno
