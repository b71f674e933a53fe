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
    namespace fs = std::filesystem;
    const fs::path to = directory_.path() / ("clone" + std::to_string(++clones_));
    fs::copy(checkpoint, to, fs::copy_options::recursive);
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(to))
      fs::permissions(e.path(), fs::perms::owner_all, fs::perm_options::add);
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
