// steno/networks/sanm_encoder.hpp - the SAN-M encoder of SenseVoice, Paraformer and Fun-ASR-Nano.
//
// FunASR `SenseVoiceEncoderSmall` / `SANMEncoder`: x * sqrt(width) + positions from 1, `encoders0` (one layer from
// features to width), `encoders` (the other main layers), `after_norm`, and for SenseVoice `tp_encoders` and `tp_norm`.
// [frames, features] -> [frames, width]. In a stream (`SANMEncoderChunkOpt.forward_chunk` of models/scama/encoder.py)
// positions go on from piece to piece, a window is the end of the one before and the new rows, and each layer also sees
// the keys and values that it kept. Tested in tests/parity/sense_voice_test.cpp and paraformer_online_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/sanm_attention.hpp>
#include <steno/layers/sinusoid.hpp>
#include <steno/layers/stack.hpp>
#include <steno/layers/window_overlap.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `EncoderLayerSANM`, norm first: without equal widths there is no residual around self-attention.
template <extent In, extent D, extent Heads, extent Ffn, extent Taps, int Exponent = 5,
          fsmn_sides Sides = fsmn_sides::both>
struct sanm_block : sequence<fitting_residual<at<"norm1", layer_norm<In, Exponent>>,
                                              at<"self_attn", sanm_attention<In, D, Heads, Taps, Sides>>>,
                             residual<at<"norm2", layer_norm<D, Exponent>>, at<"feed_forward", feed_forward<D, Ffn>>>> {
};

/// Sizes of a SAN-M encoder by name; what is left out is adopted from the file.
struct sanm_sizes {
  extent features = dynamic;   ///< width of a row of the front end
  extent width = dynamic;      ///< of the layers
  extent heads = dynamic;      ///< of self-attention
  extent units = dynamic;      ///< inner width of the feed-forward parts
  extent taps = dynamic;       ///< of the memory (FSMN)
  extent blocks = dynamic;     ///< main layers behind the first
  extent tp_blocks = dynamic;  ///< layers of `tp_encoders`; the main encoder alone has none
};

/// Paraformer's encoder: `blocks` layers follow the first, then `after_norm`.
template <sanm_sizes S, int Exponent = 12>
struct sanm_main_encoder
    : sequence<shown<"scaled", scale_by_root<S.features, S.width>>, sinusoid<S.features, 1>,
               window_overlap<S.features, S.width>,
               at<"encoders0", repeat<1, sanm_block<S.features, S.width, S.heads, S.units, S.taps, Exponent>>>,
               at<"encoders", repeat<S.blocks, sanm_block<S.width, S.width, S.heads, S.units, S.taps, Exponent>>>,
               at<"after_norm", layer_norm<S.width, Exponent>>> {};

/// SenseVoice's, with `tp_blocks` layers more.
template <sanm_sizes S, int Exponent = 5>
struct sanm_encoder
    : sequence<sanm_main_encoder<S, Exponent>,
               at<"tp_encoders", repeat<S.tp_blocks, sanm_block<S.width, S.width, S.heads, S.units, S.taps, Exponent>>>,
               at<"tp_norm", layer_norm<S.width, Exponent>>> {};

/// How a stream is cut, in encoder frames (60 ms each): chunk_size [before, size, after] of the original.
struct chunk_sizes {
  extent before = 0;             ///< seen again, without tokens
  extent size = 10;              ///< a piece
  extent after = 5;              ///< seen ahead: results are so much later
  extent encoder_look_back = 4;  ///< pieces whose keys the encoder still sees; 0: none, -1: all
  extent decoder_look_back = 1;  ///< pieces whose frames the decoder still sees; not positive: none

  /// Rows of a window that the one before had, too.
  extent overlap() const noexcept { return before + after; }
};

/// The record of a stream's encoder. As the original's slices: [:-0] is empty, so without frames ahead no keys are
/// kept, and what the first window leaves is not cut.
struct sanm_window {
  extent overlap = 0;  ///< rows of a window that come from the one before
  extent again = 0;    ///< newest rows of a window that the next one brings again, so that no keys of them are kept
  extent keep = 0;     ///< rows whose keys and values each layer keeps; negative: all

  /// Of a stream's first window, or of a later one.
  sanm_window(const chunk_sizes& s, bool first)
      : overlap(s.overlap()),
        again(s.after),
        keep(s.encoder_look_back == 0 || s.after == 0 ? 0
             : s.encoder_look_back < 0 || first       ? -1
                                                      : s.encoder_look_back * s.size) {}
};

/// What a file says the width is (output_size), to be compared with the stack's.
template <class Encoder>
extent sanm_width(const Encoder& e) {
  return e.template get<"scaled">().output_width.get();
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
