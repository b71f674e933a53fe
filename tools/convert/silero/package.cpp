// tools/convert/silero/package.cpp - keys and tensors of a packaged Silero VAD; see silero.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/models/silero_vad.hpp>

#include <utility>

#include "silero/silero.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace silero_files {

void walk_silero_vad(const gguf_file& keys, tensor_taker& taker) { walk_model<models::silero_vad_any>(keys, taker); }

imported_model package(checkpoint_tensors from, const settings& s, std::shared_ptr<const void> keep) {
  imported_model model;
  model.where = from.where;
  model.source = std::move(keep);
  model.file.set("general.architecture", "silero_vad");
  model.file.set("general.name", "Silero VAD");
  if (!s.version.empty()) model.file.set("general.version", s.version);
  model.file.set("steno.version", std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                                      std::to_string(version.patch));
  model.file.set("silero_vad.frontend.sample_rate", s.sample_rate);
  model.file.set("silero_vad.left_padding", s.left_padding);
  model.file.set("silero_vad.round_to_half", s.round_to_half);
  // Axes of 1 come and go: ggml's have none, a convolution of one sample's width has one.
  from.compared = checkpoint_tensors::shapes::without_ones;
  const auto frame = static_cast<extent>(s.sample_rate * 16 / 1000);
  from.sizes.push_back({"_model.stft.forward_basis_buffer", 2 * (frame / 2 + 1), frame});
  from.sizes.push_back({"_model.decoder.decoder.2.weight", 1, dynamic});
  from.sizes.push_back({"_model.decoder.decoder.2.bias", dynamic, 1});
  for (stored_tensor& t : from.all) t.name.insert(0, "_model.");
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace silero_files
}  // namespace STENO_ABI
}  // namespace steno
