// steno/networks/fsmn_encoder.hpp - FSMN-VAD's network: what each frame is, from itself and a fixed stretch before it.
//
//   y = relu(in_linear2(in_linear1(x)));  each layer: p = linear(y), y = relu(affine(p + memory(p)));
//   scores = softmax(out_linear2(out_linear1(y)))
//
// FunASR `FSMN` (funasr/models/fsmn_vad_streaming/encoder.py) with memory to the left only: [frames, features] ->
// [frames, classes]. A stream carries the last taps - 1 rows of every layer's projection; a clip is a stream that
// begins with zeros, so cutting makes no difference. The original wraps torch.nn.Linear one name further down. Tested
// in tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/fsmn.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/softmax.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// One layer, W values wide, with a memory of P values over Taps frames.
template <extent W, extent P, extent Taps>
struct fsmn_block : sequence<at<"linear.linear", linear<W, P, bias::none>>,
                             shown<"memory", residual<at<"fsmn_block.conv_left", fsmn<Taps, P, fsmn_sides::left>>>>,
                             at<"affine.linear", linear<P, W, bias::added, relu>>> {};

/// Sizes by name, beside each the original's; what is left out is adopted from the file.
struct fsmn_sizes {
  extent features = dynamic;       ///< width of a row of the front end (input_dim)
  extent input_affine = dynamic;   ///< width behind in_linear1 (input_affine_dim)
  extent width = dynamic;          ///< of the layers (linear_dim)
  extent projection = dynamic;     ///< width of what a layer remembers of a frame (proj_dim)
  extent taps = dynamic;           ///< frames that a memory reaches over, its own the last (lorder)
  extent layers = dynamic;         ///< blocks with a memory (fsmn_layers)
  extent output_affine = dynamic;  ///< width behind out_linear1 (output_affine_dim)
  extent classes = dynamic;        ///< scores of a frame (output_dim)
};

/// The network: features [frames, features] -> probabilities [frames, classes].
template <fsmn_sizes S>
struct fsmn_encoder
    : sequence<at<"in_linear1.linear", linear<S.features, S.input_affine>>,
               at<"in_linear2.linear", linear<S.input_affine, S.width, bias::added, relu>>,
               at<"fsmn", repeat<S.layers, fsmn_block<S.width, S.projection, S.taps>>>,
               at<"out_linear1.linear", linear<S.width, S.output_affine>>,
               at<"out_linear2.linear", linear<S.output_affine, S.classes>>, shown<"scores", softmax<S.classes>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
