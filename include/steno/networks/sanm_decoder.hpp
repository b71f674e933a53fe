// steno/networks/sanm_decoder.hpp - Paraformer's decoder: all tokens at once, from their acoustic vectors.
//
//   layer:  t = feed_forward(norm1(x));  x = x + fsmn(norm2(t)) + norm2(t);  x = x + src_attn(norm3(x), encoded)
//   decoders3:  x = feed_forward(norm1(x)), without a residual
//   y = output_layer(after_norm(x))
//
// FunASR `ParaformerSANMDecoder`, `DecoderLayerSANM` (funasr/models/paraformer/decoder.py), with
// `PositionwiseFeedForwardDecoderSANM` (a norm inside, no bias on w_2), `MultiHeadedAttentionSANMDecoder` (the FSMN
// alone) and `MultiHeadedAttentionCrossAtt`. In a stream (`forward_chunk`) the FSMN is one-sided and goes on from the
// tokens before, and the attention also sees the last encoder frames of the pieces before. Tested in
// tests/parity/paraformer_test.cpp and paraformer_online_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/cross_attention.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// y = w_2(norm(relu(w_1(x)))).
template <extent D, extent Ffn, int Exponent>
struct normed_feed_forward : sequence<at<"w_1", linear<D, Ffn, bias::added, relu>>,
                                      at<"norm", layer_norm<Ffn, Exponent>>, at<"w_2", linear<Ffn, D, bias::none>>> {};

/// The first half of a layer, which looks at the tokens alone: feed-forward part and FSMN.
template <extent D, extent Ffn, extent Taps, int Exponent = 12>
struct sanm_decoder_memory
    : residual<at<"norm1", layer_norm<D, Exponent>>, at<"feed_forward", normed_feed_forward<D, Ffn, Exponent>>,
               at<"norm2", layer_norm<D, Exponent>>,
               shown<"fsmn_self_attn", residual<at<"self_attn.fsmn_block", fsmn<Taps, D>>>>> {};

/// `DecoderLayerSANM`: x [tokens, D] -> y [tokens, D]; the record is sanm_decoder_env.
template <extent D, extent Heads, extent Ffn, extent Taps, int Exponent = 12>
struct sanm_decoder_layer
    : sequence<
          sanm_decoder_memory<D, Ffn, Taps, Exponent>,
          residual<at<"norm3", layer_norm<D, Exponent>>, at<"src_attn", cross_attention<encoder_products<D, Heads>>>>> {
  /// What comes before norm3 and src_attn.
  const sanm_decoder_memory<D, Ffn, Taps, Exponent>& memory() const noexcept { return core::part<0>(this->stages); }
};

/// The layer of `decoders3`: a feed-forward part without a residual.
template <extent D, extent Ffn, int Exponent = 12>
struct sanm_decoder_end
    : sequence<at<"norm1", layer_norm<D, Exponent>>, at<"feed_forward", normed_feed_forward<D, Ffn, Exponent>>> {};

/// Sizes by name; what is left out is adopted from the file.
struct sanm_decoder_sizes {
  extent width = dynamic;       ///< of the layers, and of the encoder's rows
  extent heads = dynamic;       ///< of cross-attention
  extent units = dynamic;       ///< inner width of the feed-forward parts
  extent taps = dynamic;        ///< of the memory (FSMN)
  extent layers = dynamic;      ///< of `decoders`; the one of `decoders3` follows
  extent vocabulary = dynamic;  ///< tokens in all
};

/// All but the last product: rows [tokens, width] -> [tokens, width].
template <sanm_decoder_sizes S>
struct sanm_decoder_body
    : sequence<at<"decoders", repeat<S.layers, sanm_decoder_layer<S.width, S.heads, S.units, S.taps>>>,
               at<"decoders3", repeat<1, sanm_decoder_end<S.width, S.units>>>,
               at<"after_norm", layer_norm<S.width, 12>>> {};

/// The decoder: acoustic vectors [tokens, width] -> logits [tokens, vocabulary]. A call takes a sanm_decoder_env.
template <sanm_decoder_sizes S>
struct sanm_decoder : sequence<sanm_decoder_body<S>, at<"output_layer", linear<S.width, S.vocabulary>>> {
  /// What the last product reads: its rows are the decoder's hidden ones.
  const sanm_decoder_body<S>& body() const noexcept { return core::part<0>(this->stages); }
};

/// The record of a call: the encoder's rows, prepared once for the products of all layers, and how many of them a
/// stream keeps (0: none).
struct sanm_decoder_env {
  kernels::operand encoded;  ///< rows, prepared by prepare_encoded()
  extent keep = 0;           ///< so many of them stay in a stream; 0: none
};
/// Prepares encoder rows [T, D] for a decoder's layers.
template <class Decoder>
kernels::operand prepare_encoded(const Decoder& d, const view<const float>& encoded, core::workspace::frame& frame,
                                 const executor& run) {
  const auto& layers = d.template get<"decoders">();
  const dtype format =
      layers.empty() ? dtype::f32 : layers.front().template get<"src_attn">().products.encoded_format();
  return kernels::prepare(encoded, format, frame, run);
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
