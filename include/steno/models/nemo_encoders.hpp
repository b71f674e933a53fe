// steno/models/nemo_encoders.hpp - sizes of the FastConformer encoders that NVIDIA publishes, by NeMo's names for them.
//
// NeMo's examples/asr/conf/fastconformer: Large and XLarge; what is called XXLarge is an XLarge of 42 layers. Models of
// streams have causal convolutions with a layer norm (`cache_aware_streaming`). Walked against the manifests of
// published files in tests/convert/manifests_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/networks/fastconformer_encoder.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// What published encoders of one size differ in.
struct published_encoder {
  extent mels = 80;                   ///< columns of the features
  extent layers = dynamic;            ///< conformer blocks; `dynamic`: the usual number of that size
  nn::bias biases = nn::bias::added;  ///< whether the blocks' products have one
  bool streaming = false;             ///< convolutions do not look ahead, and have a layer norm
};

/// FastConformer Large: about 115 million parameters with 17 layers.
constexpr nn::fastconformer_sizes fastconformer_large(const published_encoder& e) noexcept {
  return {.mels = e.mels,
          .channels = 256,
          .width = 512,
          .heads = 8,
          .units = 2048,
          .taps = 9,
          .layers = e.layers == dynamic ? 17 : e.layers,
          .biases = e.biases,
          .causal = e.streaming,
          .normed = e.streaming};
}
/// FastConformer XLarge: about 600 million parameters with 24 layers.
constexpr nn::fastconformer_sizes fastconformer_xlarge(const published_encoder& e) noexcept {
  nn::fastconformer_sizes s = fastconformer_large(e);
  s.width = 1024;
  s.units = 4096;
  s.layers = e.layers == dynamic ? 24 : e.layers;
  return s;
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
