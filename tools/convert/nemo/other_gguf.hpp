// tools/convert/nemo/other_gguf.hpp - GGUF files of CrispASR and of transcribe.cpp that hold a Parakeet, a Nemotron or
// a Sortformer.
//
// Both call a Parakeet's architecture "parakeet", so keys tell them apart: parakeet.d_model is CrispASR's, stt.variant
// transcribe.cpp's, who calls Nemotron so, too; CrispASR's is "nemotron". Names and keys: docs/formats.md. Tested in
// tests/convert/other_gguf_test.cpp, fuzzed by tests/fuzz/gguf_import_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "families.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

/// general.architecture "parakeet" or "nemotron". Throws steno::error.
imported_model import_other_parakeet(const std::shared_ptr<gguf_file>& file);
/// transcribe.cpp's "sortformer", without steno's version. Throws steno::error.
imported_model import_other_sortformer(const std::shared_ptr<gguf_file>& file);

/// CrispASR's: parakeet.d_model or nemotron.d_model is there. Throws steno::error.
imported_model import_crispasr(const std::shared_ptr<gguf_file>& file);
/// A Parakeet of transcribe.cpp: stt.variant is there. Throws steno::error.
imported_model import_transcribe(const std::shared_ptr<gguf_file>& file);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
