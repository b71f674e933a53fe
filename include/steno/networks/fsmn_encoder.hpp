// steno/networks/fsmn_encoder.hpp - FSMN-VAD's network: what each frame is, from itself and a fixed stretch before it.
//
//   y = relu(in_linear2(in_linear1(x)));  each layer: p = linear(y), y = relu(affine(p + memory(p)));
//   scores = softmax(out_linear2(out_linear1(y)))
//
// FunASR `FSMN` (funasr/models/fsmn_vad_streaming/encoder.py) with memory to the left only: [frames, Feat] -> [frames,
// Classes]. A stream carries the last Taps - 1 rows of every layer's projection; a clip is a stream that begins with
// zeros, so cutting makes no difference. The original wraps torch.nn.Linear one name further down. Tested in
// tests/parity/fsmn_vad_test.cpp.
#pragma once
#include <steno/layers/fsmn.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/softmax.hpp>
#include <steno/layers/stack.hpp>

namespace steno {
inline namespace STENO_ABI {

/// One layer, W values wide, with a memory of P values over Taps frames.
template <extent W, extent P, extent Taps>
struct fsmn_block : sequence<at<"linear.linear", linear<W, P, bias::none>>,
                             shown<"memory", residual<at<"fsmn_block.conv_left", fsmn<Taps, P, fsmn_sides::left>>>>,
                             at<"affine.linear", linear<P, W, bias::added, relu>>> {};

/// The network: features [frames, Feat] -> probabilities [frames, Classes]; Layers blocks W wide.
template <extent Feat, extent In, extent W, extent P, extent Taps, extent Layers, extent Out, extent Classes>
struct fsmn_encoder
    : sequence<at<"in_linear1.linear", linear<Feat, In>>, at<"in_linear2.linear", linear<In, W, bias::added, relu>>,
               at<"fsmn", repeat<Layers, fsmn_block<W, P, Taps>>>, at<"out_linear1.linear", linear<W, Out>>,
               at<"out_linear2.linear", linear<Out, Classes>>, shown<"scores", softmax<Classes>>> {};

}  // namespace STENO_ABI
}  // namespace steno
