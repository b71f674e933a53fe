// tools/convert/package.hpp - writing a packaged file to disk or memory.
//
// number_formats.hpp says which format each tensor gets. A tensor that already has the format is copied as it is; all
// other changes go through f32 (exact from f16 and bf16). Schema: docs/formats.md. Tested in
// tests/convert/convert_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "imported_model.hpp"
#include "number_formats.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Adds general.file_type and all tensors to `model.file`, but for those that `lender` has as the packaged file would
/// have them: their names are returned. The model must outlive the writing of the file. Throws steno::error for a
/// choice that the model cannot have.
std::vector<std::string> add_tensors(imported_model& model, const format_choice& choice,
                                     const gguf_file* lender = nullptr);

}  // namespace STENO_ABI
}  // namespace steno
