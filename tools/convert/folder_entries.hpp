// tools/convert/folder_entries.hpp - the folder of a path, and what lies in it.
//
// Not std::filesystem::directory_iterator: libstdc++ 12 ends the process when it finds no memory for a name, and its
// one for Windows reads no folder whose name has over 260 characters. Tested in tests/transcriber/inputs_test.cpp and
// by damage-short.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <filesystem>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// The path itself where it is a folder, else the folder that it lies in.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Paths of the entries of a folder, sorted; empty when there is no such folder. Throws steno::error when it cannot be
/// read to its end.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

}  // namespace STENO_ABI
}  // namespace steno
