// Converted copies of checkpoints, so that the next start maps a file instead of converting again.
//
// A copy lies in steno/models of the cache directory (XDG_CACHE_HOME, else ~/.cache), under a name that is a hash of
// everything that it is made of: the bytes and names of the checkpoint's files, the tokenizer, and the program. So a
// checkpoint that changes, or a new program, has another copy. What the converter noted lies beside it. Tested in
// tests/programs/steno_model_files_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace steno::app {

struct cached_model {
  std::filesystem::path path;      ///< of the packaged copy
  std::vector<std::string> notes;  ///< what the converter said when it made it
};

/// The copy of a checkpoint, made now if it is not there yet; nothing for a packaged file, which needs none. Throws
/// steno::error when the checkpoint cannot be converted, or the copy not be written.
std::optional<cached_model> cached_copy(const std::filesystem::path& checkpoint,
                                        const std::optional<std::filesystem::path>& tokenizer);

}  // namespace steno::app
