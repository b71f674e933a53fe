// tools/convert/nemo/other_gguf.cpp - see other_gguf.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/other_gguf.hpp"

#include <steno/error.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

imported_model import_other_parakeet(const std::shared_ptr<gguf_file>& file) {
  if (file->has("parakeet.d_model") || file->has("nemotron.d_model")) return import_crispasr(file);
  if (file->has("stt.variant")) return import_transcribe(file);
  fail({.where = file->where(),
        .what = "a GGUF file of \"parakeet\" or \"nemotron\" whose keys are not known",
        .expected = "those of CrispASR (parakeet.d_model, nemotron.d_model) or transcribe.cpp (stt.variant)"});
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
