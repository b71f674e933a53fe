// steno/networks/sanm_encoder.hpp - the SAN-M encoder of SenseVoice, Paraformer and Fun-ASR-Nano.
//
// FunASR `SenseVoiceEncoderSmall` / `SANMEncoder`: x * sqrt(D) + positions from 1, `encoders0` (one layer from Feat to
// D), `encoders` (the other main layers), `after_norm`, and for SenseVoice `tp_encoders` and `tp_norm`. [frames, Feat]
// -> [frames, D]. Tested in tests/parity/sense_voice_test.cpp (golden stages).
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/repeat.hpp>
#include <steno/layers/sanm_attention.hpp>
#include <steno/layers/sequence.hpp>
#include <steno/layers/sinusoid.hpp>

namespace steno::inline STENO_ABI {

/// One layer, norm first: x -> self-attention (+ x where the widths agree) -> + feed-forward.
/// FunASR `EncoderLayerSANM`: without equal widths there is no residual around self-attention.
template <extent In, extent D, extent Heads, extent Ffn, extent Taps, int Exponent = 5>
struct sanm_block {
  static constexpr extent input = In, output = D;
  static constexpr bool in_place = compatible(In, D);

  layer_norm<In, Exponent> norm1;
  sanm_attention<In, D, Heads, Taps> self_attn;
  layer_norm<D, Exponent> norm2;
  steno::feed_forward<D, Ffn> feed_forward;

  void members(auto&& v) {
    v("norm1", norm1);
    v("self_attn", self_attn);
    v("norm2", norm2);
    v("feed_forward", feed_forward);
    v.equal("widths of norm1 and self_attn", norm1.input_size(), self_attn.input_size());
    v.equal("widths of self_attn and norm2", self_attn.output_size(), norm2.input_size());
    v.equal("widths of norm2 and feed_forward", norm2.input_size(), feed_forward.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent output_size() const noexcept { return norm2.input_size(); }

  /// y must not be x where the widths differ. `past` and `ends`: a stream's, see sanm_attention.
  void operator()(view<const float, dynamic, In> x, view<float, dynamic, D> y, context& c,
                  key_value_cache* past = nullptr, const window_ends& ends = {}) const {
    const extent frames = x.rows(), wide = input_size(), d = output_size();
    workspace::frame scratch(c.scratch);
    auto heard = scratch.template matrix<dynamic, D>(frames, d);
    {
      workspace::frame inner(c.scratch);
      auto normed = inner.template matrix<dynamic, In>(frames, wide);
      norm1(x, normed, c);
      c.trace("norm1", normed);
      self_attn(normed, heard, c, past, ends);
    }
    if (wide == d)
      kernels::add(read(x), read(heard), write(y));
    else
      kernels::scale(read(heard), 1.0f, write(y));

    norm2(y, heard, c);
    c.trace("norm2", heard);
    feed_forward(heard, heard, c);
    c.trace("ffn", heard);
    kernels::add(read(y), read(heard), write(y));
    c.trace("out", y);
  }
};

/// Paraformer's encoder: `Rest` layers follow the first, then `after_norm`.
template <extent Feat, extent D, extent Heads, extent Ffn, extent Taps, extent Rest, int Exponent = 12>
using sanm_main_encoder = sequence<scale_by_root<Feat, D>, sinusoid<Feat, 1>,
                                   at<"encoders0", repeat<1, sanm_block<Feat, D, Heads, Ffn, Taps, Exponent>>>,
                                   at<"encoders", repeat<Rest, sanm_block<D, D, Heads, Ffn, Taps, Exponent>>>,
                                   at<"after_norm", layer_norm<D, Exponent>>>;

/// SenseVoice's, with Tp layers more; `Rest` is 49, Tp 20.
template <extent Feat, extent D, extent Heads, extent Ffn, extent Taps, extent Rest, extent Tp, int Exponent = 5>
using sanm_encoder = sequence<scale_by_root<Feat, D>, sinusoid<Feat, 1>,
                              at<"encoders0", repeat<1, sanm_block<Feat, D, Heads, Ffn, Taps, Exponent>>>,
                              at<"encoders", repeat<Rest, sanm_block<D, D, Heads, Ffn, Taps, Exponent>>>,
                              at<"after_norm", layer_norm<D, Exponent>>,
                              at<"tp_encoders", repeat<Tp, sanm_block<D, D, Heads, Ffn, Taps, Exponent>>>,
                              at<"tp_norm", layer_norm<D, Exponent>>>;

}  // namespace steno::inline STENO_ABI
