// tools/convert/verify.hpp - what steno-convert would make of a checkpoint, without converting it.
//
// The checkpoint is walked as for a conversion: settings, tokenizer, names and shapes. Values are not looked at, but
// for those that settings are made of. Tested in tests/convert/verify_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convert.hpp"

namespace steno {
inline namespace STENO_ABI {

struct verification {
  bool converts = false;
  /// For people, in a stable order: a summary; what is missing, what is refused, what is ignored and why, notes, what
  /// is read and into which format.
  std::vector<std::string> lines;
};

/// Never throws for a fault of the checkpoint: that is a line.
verification verify(const std::filesystem::path& input, const convert_options& options = {});

}  // namespace STENO_ABI
}  // namespace steno
