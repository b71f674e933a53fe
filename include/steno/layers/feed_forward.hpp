// steno/layers/feed_forward.hpp - y = w_2(act(w_1(x))).
//
// `PositionwiseFeedForward` of FunASR and WeNet, `ConformerFeedForward` and `PositionWiseFF` of NeMo, Whisper's `mlp`:
// two products, which each family names differently. x [frames, D], inner width Ffn; y may be x. Tested in
// tests/layers/stack_test.cpp and on golden stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Two products with an activation in between: x [frames, D] -> y [frames, D]; y may be x. First and Second are what
/// the checkpoint calls them.
template <extent D, extent Ffn, class Act = relu, core::fixed_string First = "w_1", core::fixed_string Second = "w_2",
          bias B = bias::added>
struct feed_forward : sequence<at<First, linear<D, Ffn, B, Act>>, at<Second, linear<Ffn, D, B>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
