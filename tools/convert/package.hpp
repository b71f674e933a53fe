// tools/convert/package.hpp - number formats of a packaged file, and writing it to disk or memory.
//
// Only matrices that products read change their format; everything else is f32. Rows that are not whole blocks of the
// format asked for become f16. A tensor that already has the format is copied as it is; all other changes go through
// f32 (exact from f16 and bf16). Schema: docs/formats.md. Tested in tests/convert/convert_test.cpp.
#pragma once
#include <steno/core/dtype.hpp>

#include <optional>

#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {

/// The format a tensor gets; `wanted` is nothing to keep what the checkpoint has.
dtype packaged_format(const imported_tensor& t, std::optional<dtype> wanted);

/// Adds general.file_type and all tensors to `model.file`. The model must outlive the writing of the file.
void add_tensors(imported_model& model, std::optional<dtype> wanted);

}  // namespace STENO_ABI
}  // namespace steno
