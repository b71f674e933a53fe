// tools/convert/package.hpp - writing a packaged file to disk or memory.
//
// number_formats.hpp says which format each tensor gets. A tensor that already has the format is copied as it is; all
// other changes go through f32 (exact from f16 and bf16). Schema: docs/formats.md. Tested in
// tests/convert/convert_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "imported_model.hpp"
#include "number_formats.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Tensors of the model that lie in a mapped file just as the packaged file would have them. Their names are the
/// model's.
struct lent_tensors {
  weights::mapped_file* file;  ///< may be moved away when nothing is read from the model any more
  std::vector<weights::tensor_ref> tensors;
};

/// Adds general.file_type and all tensors to `model.file`. The model must outlive the writing of the file. Throws
/// steno::error for a choice that the model cannot have.
void add_tensors(imported_model& model, const format_choice& choice);
/// The same, in the formats that the tensors have, but for those that need not be written: these are returned.
std::vector<lent_tensors> add_changed_tensors(imported_model& model);

}  // namespace STENO_ABI
}  // namespace steno
