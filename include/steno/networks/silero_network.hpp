// steno/networks/silero_network.hpp - Silero VAD's network: how likely one window of samples holds speech.
//
//   m = |STFT(samples)|                                                           [4, filter / 2 + 1]
//   m = relu(conv(m)), four times: kernel 3, strides 1, 2, 2, 1                    [1, hidden]
//   h, c = lstm_cell(m, h, c);  probability = sigmoid(conv(relu(h)))               kernel 1
//
// `VADRNNJIT` of Silero VAD v5 and v6 (silero_vad.jit; src/silero_vad/tinygrad_model.py has the 16 kHz one in 40
// lines). Of a file of whisper.cpp what convolutions read is rounded to halves, as ggml does. A call sees one window
// with the samples before it, one a row; from window to window h and c go on. Tested in
// tests/parity/silero_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/activate.hpp>
#include <steno/layers/conv1d.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/lstm_cell.hpp>
#include <steno/layers/round_to_half.hpp>
#include <steno/layers/sigmoid.hpp>
#include <steno/layers/stack.hpp>
#include <steno/layers/stft_magnitude.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Sizes by name; what is left out is adopted from the file.
struct silero_sizes {
  extent filter = dynamic;  ///< samples of a frame of the transform
  extent first = dynamic;   ///< channels behind encoder.0
  extent second = dynamic;  ///< behind encoder.1
  extent third = dynamic;   ///< behind encoder.2
  extent hidden = dynamic;  ///< behind encoder.3, and of the long short-term memory
};

/// From magnitudes to a row of `hidden` values.
template <silero_sizes S>
struct silero_encoder : sequence<round_to_half<stft_magnitude<S.filter>::bins>,
                                 at<"0.reparam_conv", conv1d<stft_magnitude<S.filter>::bins, S.first, 3, 1, relu>>,
                                 round_to_half<S.first>, at<"1.reparam_conv", conv1d<S.first, S.second, 3, 2, relu>>,
                                 round_to_half<S.second>, at<"2.reparam_conv", conv1d<S.second, S.third, 3, 2, relu>>,
                                 round_to_half<S.third>, at<"3.reparam_conv", conv1d<S.third, S.hidden, 3, 1, relu>>> {
};

/// From there to a probability, with what was before.
template <silero_sizes S>
struct silero_decoder : sequence<at<"rnn", lstm_cell<S.hidden>>, activate<S.hidden, relu>, round_to_half<S.hidden>,
                                 at<"decoder.2", linear<S.hidden, dynamic>>, shown<"probability", sigmoid<dynamic>>> {};

/// The network: samples [samples, 1] -> probability [1, 1].
template <silero_sizes S>
struct silero_network : sequence<round_to_half<dynamic>, at<"stft", stft_magnitude<S.filter>>,
                                 at<"encoder", silero_encoder<S>>, at<"decoder", silero_decoder<S>>> {};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
