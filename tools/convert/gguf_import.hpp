// tools/convert/gguf_import.hpp - GGUF files as input: steno's own, to change their number format, and those that the
// originals' authors publish.
//
// Tested in tests/convert/gguf_import_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "families.hpp"
#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Whether the file is a packaged one of steno.
bool is_packaged(const gguf_file& file);

/// Imports a GGUF file of either kind. Throws steno::error for files of other models, naming their architecture.
imported_model import_gguf(gguf_file file, const import_options& options);

/// A whole number between `min` and `max` under `key`. Throws steno::error.
std::uint32_t whole_number(const gguf_file& file, const char* key, std::uint32_t min, std::uint32_t max);

}  // namespace STENO_ABI
}  // namespace steno
