// tools/convert/npz.hpp - numpy's .npz: a zip archive of .npy arrays.
//
// An array: "\x93NUMPY", u8 version 1 to 3, u8 0, u16 (u32 from 2 on) length of the header, the header as a Python
// dictionary {'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }, values in row-major order. Shapes are checked
// against the entries' sizes, and these against the archive's. Tested in tests/convert/mlx_test.cpp, fuzzed by
// tests/fuzz/npz_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/mapped_file.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stored_tensor.hpp"

struct zip;

namespace steno {
inline namespace STENO_ABI {

/// The arrays of an archive, read when they are asked for; they keep it open, one thread at a time. `bytes` must
/// outlive them. Throws steno::error.
std::vector<stored_tensor> npz_tensors(std::span<const std::byte> bytes, const std::string& where);

}  // namespace STENO_ABI
}  // namespace steno
