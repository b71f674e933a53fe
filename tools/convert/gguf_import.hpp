// tools/convert/gguf_import.hpp - GGUF files as input: steno's own, to change their number format, and those that the
// originals' authors publish.
//
// Tested in tests/convert/gguf_import_test.cpp.
#pragma once
#include "families.hpp"
#include "imported_model.hpp"

namespace steno::inline STENO_ABI {

/// Whether the file is a packaged one of steno.
bool is_packaged(const gguf_file& file);

/// Imports a GGUF file of either kind. Throws steno::error for files of other models, naming their architecture.
imported_model import_gguf(gguf_file file, const import_options& options);

/// A whole number between `least` and `most` under `key`. Throws steno::error.
std::uint32_t whole_number(const gguf_file& file, const char* key, std::uint32_t least, std::uint32_t most);

/// Tensor `number` of `file` as it is; `file` must outlive it. Throws steno::error for a format without values.
imported_tensor take_tensor(const gguf_file& file, std::size_t number,
                            bool (*is_product)(const std::string& name, std::size_t rank));

}  // namespace steno::inline STENO_ABI
