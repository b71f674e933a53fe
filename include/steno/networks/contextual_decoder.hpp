// steno/networks/contextual_decoder.hpp - Paraformer's decoder with hotwords in its last layer.
//
//   x = decoders(x);  s = last_decoder up to its FSMN;  c = last_decoder.src_attn(norm3(s), encoded)
//   b = bias_decoder.src_attn(bias_decoder.norm3(s), hotwords);  x = s + bias_output([c, clas_scale b])
//   y = output_layer(after_norm(decoders3(x)))
//
// FunASR `ContextualParaformerDecoder`, `ContextualDecoderLayer`, `ContextualBiasDecoder`
// (funasr/models/contextual_paraformer/decoder.py). Written by hand, for the two results of the last layer go different
// ways. Tested in tests/parity/contextual_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/networks/sanm_decoder.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Attention to hotwords: x [tokens, D] -> y [tokens, D], without a residual. The record's `encoded` are hotwords.
template <extent D, extent Heads>
struct contextual_bias
    : sequence<at<"norm3", layer_norm<D, 12>>, at<"src_attn", cross_attention<encoder_products<D, Heads>>>> {};

/// The record of a call: the encoder's rows [T, D], the vectors of hotwords [m, D], and how much these count.
struct contextual_decoder_env {
  view<const float> encoded;   ///< the encoder's rows
  view<const float> hotwords;  ///< their vectors, one or more
  float clas_scale = 1;        ///< factor of what attention to hotwords gives
};

/// Acoustic vectors [tokens, width] -> logits [tokens, vocabulary]. Of S.layers the last one is `last_decoder`. A call
/// takes a contextual_decoder_env.
template <sanm_decoder_sizes S>
struct contextual_decoder {
  static constexpr extent input = S.width, output = S.vocabulary;
  static_assert(!core::is_static(S.layers) || S.layers > 0, "steno: the last layer is one of them");
  using layer_type = sanm_decoder_layer<S.width, S.heads, S.units, S.taps>;  ///< each of them
  using end_type = sequence<at<"decoders3", repeat<1, sanm_decoder_end<S.width, S.units>>>,
                            at<"after_norm", layer_norm<S.width, 12>>,
                            at<"output_layer", linear<S.width, S.vocabulary>>>;  ///< what follows the last one

  repeat<core::is_static(S.layers) ? S.layers - 1 : dynamic, layer_type> decoders;  ///< all but the last
  layer_type last_decoder;                                                          ///< its results are kept apart
  contextual_bias<S.width, S.heads> bias_decoder;                                   ///< attention to hotwords
  linear<core::times(2, S.width), S.width, bias::none> bias_output;                 ///< of both attentions
  end_type end;                                                                     ///< up to the logits

  void members(auto&& v) {
    v("decoders", decoders);
    v("last_decoder", last_decoder);
    v("bias_decoder", bias_decoder);
    v("bias_output", bias_output, core::stored::kernel(1));
    end.members(v);
    const extent d = last_decoder.input_size();
    for (const extent n : {decoders.empty() ? d : decoders.output_size(), bias_decoder.input_size(),
                           bias_decoder.output_size(), bias_output.output_size(), end.input_size()})
      v.equal("widths of the decoder's parts", n, d);
    v.equal("input of bias_output and twice the width", bias_output.input_size(), 2 * d);
  }
  extent input_size() const noexcept { return last_decoder.input_size(); }
  extent output_size() const noexcept { return end.output_size(); }
  no_state start() const noexcept { return {}; }

  template <class Env>
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, no_state*, const Env& env,
                  context& c) const {
    static_assert(
        requires { env.hotwords; }, "steno: this decoder's record has no `hotwords`, which it looks at");
    using rows_view = view<const float, dynamic, input>;
    const extent n = x.rows(), d = input_size();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, input>(n, d);
    auto self = scratch.template matrix<dynamic, input>(n, d);
    auto both = scratch.matrix(n, 2 * d);  // c and b, side by side
    const auto& source = last_decoder.template get<"src_attn">();
    {
      core::workspace::frame prepared(c.scratch);
      const sanm_decoder_env seen{.encoded = prepare_for(source, env.encoded, prepared, c)};
      {
        auto scope = c.enter("decoders");
        decoders(x, rows, nullptr, seen, c);
      }
      auto scope = c.enter("last_decoder");
      last_decoder.memory()(core::as<const float, dynamic, input>(rows), self, nullptr, seen, c);
      c.trace("memory", self);
      last_decoder.template get<"norm3">()(core::as<const float, dynamic, input>(self), rows, nullptr, seen, c);
      source(rows_view(core::as<const float, dynamic, input>(rows)), part<0>(both), nullptr, seen, c);
      c.trace("src_attn", part<0>(both));
    }
    {
      core::workspace::frame prepared(c.scratch);
      const sanm_decoder_env seen{.encoded =
                                      prepare_for(bias_decoder.template get<"src_attn">(), env.hotwords, prepared, c)};
      {
        auto scope = c.enter("bias_decoder");
        bias_decoder(core::as<const float, dynamic, input>(self), part<1>(both), nullptr, seen, c);
      }
      c.trace("bias_decoder", part<1>(both));
      if (env.clas_scale != 1) kernels::scale(core::read(part<1>(both)), env.clas_scale, core::write(part<1>(both)));
    }
    bias_output.multiply(core::as<const float, dynamic, core::times(2, input)>(both), rows, c);
    c.trace("bias_output", rows);
    kernels::add(core::read(self), core::read(rows), core::write(rows));
    end(core::as<const float, dynamic, input>(rows), y, nullptr, no_env{}, c);
  }

 private:
  template <extent I>
  view<float, dynamic, input> part(const view<float>& both) const {
    const extent d = input_size();
    return core::make_view<dynamic, input>(view<float>(both).data() + I * d, both.rows(), d, 2 * d);
  }
  template <class Attention>
  static kernels::operand prepare_for(const Attention& a, const view<const float>& rows, core::workspace::frame& frame,
                                      context& c) {
    return kernels::prepare(rows, a.products.encoded_format(), frame, c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
