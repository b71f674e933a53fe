// steno/models/whisper_window.hpp - a window of Whisper's that is being decoded.
//
// Tested through tests/models/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/networks/whisper_decoder.hpp>

#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// A window that is being decoded. One for each thread; its memory is kept from window to window.
struct whisper_window {
  std::vector<nn::kv_cache> encoded;  ///< keys and values of the encoder's rows, for each layer of the decoder
  nn::whisper_decoder_state text;     ///< what was written so far

  /// Rows of the encoder.
  extent rows() const noexcept { return encoded.empty() ? 0 : encoded.front().rows(); }
};

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
