// A test's own copies of a checkpoint, to be altered.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace steno::test {

class copied_folder : public testing::Test {
 protected:
  /// A copy that may be written to, whatever the original allows.
  std::filesystem::path clone(const std::filesystem::path& checkpoint) {
    const std::filesystem::path to = directory_.path() / ("clone" + std::to_string(++clones_));
    copy_folder(checkpoint, to);
    return to;
  }
  /// The first `from` of a file becomes `to`; a failure where there is none.
  static void replace(const std::filesystem::path& file, const std::string& from, const std::string& to) {
    std::string text = read_text(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    write_text(file, text);
  }

  temporary_directory directory_;

 private:
  int clones_ = 0;
};

}  // namespace steno::test
