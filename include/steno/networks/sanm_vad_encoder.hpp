// steno/networks/sanm_vad_encoder.hpp - the SAN-M encoder of realtime punctuation: every word sees those before it.
//
//   all layers but the last: row t sees rows 0 .. t
//   the last: rows see all, but those of the text before the present piece do not see behind it (`split` of
//   attention_window)
//
// FunASR `SANMVadEncoder` (models/ct_transformer_streaming/encoder.py) with `vad_mask` and `subsequent_mask`; the
// memory sees earlier rows alone (sanm_shfit 5 of 11 taps). x * sqrt(width) + positions from 1; eps 1e-12. [words,
// width] -> [words, width]. With one layer in all there is no last one. Tested on golden stages in
// tests/parity/ct_punc_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/around.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/networks/sanm_encoder.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The record of a layer: what its rows see.
struct windowed {
  attention_window window;  ///< of its attention
};
/// The record of a pass.
struct sanm_vad_record {
  extent split = 0;  ///< words of the text before the present piece
};

/// Runs a stack whose rows see themselves and those before them.
template <class Stack>
struct looking_back : around<Stack> {
  using around<Stack>::input, around<Stack>::output;
  /// What a stream keeps: the stack's state.
  struct state {
    state_of<Stack> stack;  ///< of the layers inside
  };

  void members(auto&& v) { detail::visit_stage(this->stack, v); }
  state start() const { return {this->stack.start()}; }
  void restart(state& s) const { steno::nn::restart(this->stack, s.stack); }
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto&,
                  context& c) const {
    this->run(x, y, s == nullptr ? nullptr : &s->stack, windowed{{.ahead = 0}}, c);
  }
};

/// Runs a `repeat` whose layers look back, but for the last one, which sees both ways up to the record's `split`.
template <class Repeat>
struct looking_back_but_last : around<Repeat> {
  using around<Repeat>::input, around<Repeat>::output;
  /// What a stream keeps: the stack's state.
  struct state {
    state_of<Repeat> stack;  ///< of the layers inside
  };

  void members(auto&& v) { detail::visit_stage(this->stack, v); }
  state start() const { return {this->stack.start()}; }
  void restart(state& s) const { steno::nn::restart(this->stack, s.stack); }
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    static_assert(
        requires { env.split; }, "steno: the record needs the number of words before the present piece");
    this->run(x, y, s == nullptr ? nullptr : &s->stack, by_layer{this->stack.size() - 1, env.split}, c);
  }

 private:
  struct by_layer {
    extent last, split;
    windowed layer(extent i) const {
      return {i == last ? attention_window{.split = split} : attention_window{.ahead = 0}};
    }
  };
};

/// `blocks` layers follow the first, then `after_norm`.
template <sanm_sizes S, int Exponent = 12>
struct sanm_vad_encoder
    : sequence<
          shown<"scaled", scale_by_root<S.features, S.width>>, sinusoid<S.features, 1>,
          at<"encoders0", looking_back<repeat<1, sanm_block<S.features, S.width, S.heads, S.units, S.taps, Exponent,
                                                            fsmn_sides::causal>>>>,
          at<"encoders", looking_back_but_last<repeat<S.blocks, sanm_block<S.width, S.width, S.heads, S.units, S.taps,
                                                                           Exponent, fsmn_sides::causal>>>>,
          at<"after_norm", layer_norm<S.width, Exponent>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
