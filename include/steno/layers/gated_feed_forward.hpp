// steno/layers/gated_feed_forward.hpp - y = down_proj(silu(gate_proj(x)) * up_proj(x)), no biases (SwiGLU).
//
// `Qwen3MLP` (transformers). gate_proj and up_proj read one prepared operand. x [rows, D], inner width Ffn; y may be x.
// Tested in tests/networks/qwen3_decoder_test.cpp and on golden stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/linear.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// SwiGLU: x [rows, D] -> y [rows, D], inner width Ffn; y may be x.
template <extent D, extent Ffn>
struct gated_feed_forward {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  linear<D, Ffn, bias::none> gate_proj;  ///< its silu is the gate
  linear<D, Ffn, bias::none> up_proj;    ///< what the gate is multiplied by
  linear<Ffn, D, bias::none> down_proj;  ///< back to D columns

  void members(auto&& v) {
    v("gate_proj", gate_proj);
    v("up_proj", up_proj);
    v("down_proj", down_proj);
    v.equal("outputs of gate_proj and up_proj", gate_proj.output_size(), up_proj.output_size());
    v.equal("inputs of gate_proj and up_proj", gate_proj.input_size(), up_proj.input_size());
    v.equal("output of up_proj and input of down_proj", up_proj.output_size(), down_proj.input_size());
    v.equal("input of up_proj and output of down_proj", up_proj.input_size(), down_proj.output_size());
  }
  extent input_size() const noexcept { return gate_proj.input_size(); }
  extent output_size() const noexcept { return down_proj.output_size(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state* s, const auto& env, context& c,
                  const addend& to = {}) const {
    core::workspace::frame scratch(c.scratch);
    auto gate = scratch.template matrix<dynamic, Ffn>(x.rows(), gate_proj.output_size());
    auto up = scratch.template matrix<dynamic, Ffn>(x.rows(), gate_proj.output_size());
    {
      core::workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(core::read(x), gate_proj.w.format, inner, c.run);
      gate_proj.multiply(o, gate, c, kernels::activation::silu);
      up_proj.multiply(o, up, c);
    }
    gate.array() *= up.array();
    down_proj(core::as<const float, dynamic, Ffn>(gate), y, s, env, c, to);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
