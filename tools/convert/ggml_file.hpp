// tools/convert/ggml_file.hpp - the container ggml had before GGUF: whisper.cpp's .bin files.
//
//   u32 magic "lmgg", then numbers that each model has of its own, then tensors until the end of the file:
//   i32 n_dims, name length, type, n_dims x i32 (fastest first), name, data
//
// Numbers are i32, little endian. Tested in tests/convert/whisper_test.cpp and parakeet_ggml_test.cpp, fuzzed by
// tests/fuzz/whisper_ggml_fuzz.cpp and parakeet_ggml_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {

inline constexpr std::string_view ggml_magic = "lmgg";

/// The next i32, between `min` and `max`. Throws steno::error, which names it `what`.
std::uint32_t ggml_size(weights::byte_cursor& at, const char* what, std::int32_t min, std::int32_t max);

/// All tensors from here to the end; they show the bytes of `file` (null for bytes in memory). One without dimensions
/// is [1]. Throws steno::error.
std::vector<stored_tensor> ggml_tensors(weights::byte_cursor& at, std::int32_t min_dimensions,
                                        std::int32_t max_dimensions, weights::mapped_file* file);

}  // namespace STENO_ABI
}  // namespace steno
