// How the program opens model files: mapped or copied, looked through or not, the same for all of a run.
//
// Tested in tests/programs/steno_model_files_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "convert.hpp"

namespace steno::app {

struct model_file_use {
  bool copied = false;   ///< read at once: nothing that happens to the file later matters
  bool cached = false;   ///< converted copies are kept (model_cache.hpp)
  bool checked = false;  ///< every value of every tensor is looked at

  std::string tokenizer = {};  ///< of `model`, which has none of its own; empty: none is named
  std::string model = {};
};

/// For all models that are opened from now on; to be called before the first.
void use_model_files(const model_file_use& how);

/// A packaged GGUF or anything steno-convert reads, in the way chosen. Throws steno::error, also for weights that are
/// infinite or NaN when they are checked.
opened_checkpoint open_model_file(const std::string& path);

/// The files that were opened, for messages: "a.gguf, b.gguf".
std::string opened_model_files();

}  // namespace steno::app
