// steno/layers/grouped_attention.hpp - self-attention of a language model: heads that share keys, rotary positions.
//
//   q, k, v = products of x; each head of q and k RMS-normed, then turned by its position;
//   heads / key heads heads of q read one head of k and v;  y = o_proj(softmax(q k^T / sqrt(width)) v)
//
// `Qwen3Attention` (transformers); grouped heads: Ainslie et al. 2023. Tested in tests/networks/qwen3_decoder_test.cpp
// and on golden stages in tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>
#include <steno/layers/rotary.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Self-attention with Heads heads of queries, KeyHeads heads of keys and values, each Width wide: x [rows, D] -> y
/// [rows, D]; y may be x. Its record is rotary_env.
template <extent D, extent Heads, extent KeyHeads, extent Width>
struct grouped_attention : attention<grouped_products<D, Heads, KeyHeads, Width>, rotary_positions> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
