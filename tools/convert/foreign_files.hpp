// tools/convert/foreign_files.hpp - what people have in place of a checkpoint: a table that names it, says why steno
// does not read it, and what to do.
//
// Graphs for other runtimes, adapters, archives still packed, downloads that are no models or not whole, what trainers
// leave behind. A kind is known by its name or its first bytes; nothing of it is read. Tested in
// tests/convert/foreign_files_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace steno {
inline namespace STENO_ABI {

/// What `file` is, when it is nothing that any importer reads; nothing for what may be a checkpoint. Does not throw
/// but for memory.
std::optional<core::fault> foreign_file(const std::filesystem::path& file);

/// The same of a file that a checkpoint names: only what no file of one can be (a pointer, a web page, ...).
std::optional<core::fault> foreign_in_place_of(const std::filesystem::path& file);

/// The message about a folder that no importer knows.
core::fault foreign_folder(const std::filesystem::path& folder, const std::string& expected);

/// The message about a folder of a known kind whose weights, usually the file `expected`, are not there: with what is
/// there instead.
core::fault without_weights(const std::filesystem::path& folder, const std::string& expected);

}  // namespace STENO_ABI
}  // namespace steno
