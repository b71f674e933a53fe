// tools/convert/file_order.hpp - the order of tensors in packaged files.
//
// Models list their tensors in the order of computation. Files have the order that they always had, so that what a new
// version writes can be compared byte by byte with what an earlier one wrote; loading does not care. Tested by the
// golden files of tests/convert and tests/parity.
#pragma once
#include <vector>

#include "imported_model.hpp"

namespace steno::inline STENO_ABI {

/// Puts tensors that are in a model's order into that of files.
void put_in_file_order(std::vector<imported_tensor>& tensors);

}  // namespace steno::inline STENO_ABI
