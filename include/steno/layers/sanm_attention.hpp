// steno/layers/sanm_attention.hpp - SAN-M: self-attention plus an FSMN memory of the values.
//
//   q, k, v = split(linear_q_k_v(x));  memory = fsmn(v) + v
//   y = linear_out(softmax(q k^T / sqrt(d_head)) v) + memory
//
// FunASR `MultiHeadedAttentionSANM`. x [frames, In] -> y [frames, D]; In differs from D in the first layer. In a stream
// (`forward_chunk`) the keys and values of earlier windows are seen, too; the memory sees the present window alone.
// Tested in tests/parity/sense_voice_test.cpp (golden stages) and tests/models/paraformer_online_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>
#include <steno/layers/fsmn.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// What is added beside attention: memory = fsmn(v) + v.
template <extent Taps, extent D, fsmn_sides Sides = fsmn_sides::both>
struct fsmn_memory {
  fsmn<Taps, D, Sides> fsmn_block;  ///< the convolution over the values

  void members(auto&& v, const auto& products) {
    v("fsmn_block", fsmn_block);
    v.equal("widths of fsmn_block and linear_out", fsmn_block.input_size(), products.output_size());
  }
  /// v [frames, D] -> y [frames, D]; y must not be v.
  void operator()(view<const float, dynamic, D> v, view<float, dynamic, D> y, context& c) const {
    if (!c.tracing()) return fsmn_block(v, y, nullptr, no_env{}, c, addend{v.data(), v.outerStride()});
    fsmn_block(v, y, nullptr, no_env{}, c);
    c.trace("fsmn_conv", y);
    kernels::add(core::read(y), core::read(v), core::write(y));
  }
};

/// SAN-M's attention: x [frames, In] -> y [frames, D]; y may be x where they are equally wide.
template <extent In, extent D, extent Heads, extent Taps, fsmn_sides Sides = fsmn_sides::both>
struct sanm_attention : attention<fused_products<In, D, Heads>, plain_score, fsmn_memory<Taps, D, Sides>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
