// SPDX-License-Identifier: Apache-2.0
#include "convert/file_faults.hpp"

#include <steno/weights/mapped_file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/golden.hpp"

namespace file_faults_test {

// Reads a mapped file that became shorter.
[[noreturn]] void read_what_is_gone(const std::string& path) {
  steno::explain_file_faults("a-program");
  const steno::weights::mapped_file file(path);
  std::filesystem::resize_file(path, 0);
  const auto last = static_cast<volatile const std::byte*>(&file.bytes().back());
  ::_exit(static_cast<int>(*last) + 50);
}

TEST(file_faults, a_file_that_is_cut_is_named_as_the_reason) {
  const steno::test::temporary_directory folder;
  const std::string path = (folder.path() / "model.gguf").string();
  std::ofstream(path, std::ios::binary) << std::string(100000, 'x');
  EXPECT_EXIT(read_what_is_gone(path), testing::ExitedWithCode(1), "^a-program: a file was cut, overwritten or lost");
}

}  // namespace file_faults_test
