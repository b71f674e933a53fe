// tools/convert/gguf_import.hpp - GGUF files as input: steno's own, to change their number format, and those that
// FunASR publishes (general.architecture "sensevoice-small", keys sv.*; runtime/llama.cpp of FunASR).
//
// What is wrong in FunASR's files is not taken over: cmvn.* come from the wrong blocks of am.mvn (shift has one value,
// scale holds the shifts) and are dropped unless both have the model's input size; sv.query_tokens names the form with
// inverse text normalisation, which is not the original's default, and is ignored. They hold pieces without scores.
// Tested in tests/convert/gguf_import_test.cpp.
#pragma once
#include <filesystem>
#include <optional>

#include "imported_model.hpp"

namespace steno::inline STENO_ABI {

/// Whether the file is a packaged one of steno.
bool is_packaged(const gguf_file& file);

/// Imports a GGUF file of either kind; `cmvn` names an am.mvn that replaces what the file has. Throws steno::error for
/// files of other models, naming their architecture.
imported_model import_gguf(gguf_file file, const std::optional<std::filesystem::path>& cmvn);

}  // namespace steno::inline STENO_ABI
