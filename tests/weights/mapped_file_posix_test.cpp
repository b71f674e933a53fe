// Pipes, permissions, and which pages are resident.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/mapped_file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <support/golden.hpp>

#include "mapped_files.hpp"

namespace mapped_file_posix_test {

using steno::test::message_of;
using steno::test::write;
using steno::weights::mapped_file;

long resident_pages_of(std::span<const std::byte> part) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // /proc/self/pagemap: bit 63 of the entry says whether the page is present in this process.
  std::ifstream map("/proc/self/pagemap", std::ios::binary);
  long present = 0;
  for (std::size_t at = 0; at < part.size(); at += page) {
    std::uint64_t entry = 0;
    map.seekg(static_cast<std::streamoff>(reinterpret_cast<std::uintptr_t>(part.data() + at) / page * 8));
    map.read(reinterpret_cast<char*>(&entry), 8);
    present += static_cast<long>(entry >> 63);
  }
  return map ? present : -1;
}

TEST(mapped_file, refuses_a_pipe) {
  const steno::test::temporary_directory folder;
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message_of(pipe), pipe + ": is not a regular file and cannot be mapped");
}

TEST(mapped_file, says_that_permission_is_missing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const steno::test::temporary_directory folder;
  const std::string path = write(folder.path() / "a.bin", "abc");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(message_of(path), path + ": cannot open the file: Permission denied");
}

TEST(mapped_file, releases_whole_pages_and_reads_them_again) {
  const steno::test::temporary_directory folder;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::string text(8 * page, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i / page + i % 7);
  const mapped_file f(write(folder.path() / "a.bin", text));
  const auto same = [&] {
    return std::equal(f.bytes().begin(), f.bytes().end(), text.begin(),
                      [](std::byte b, char c) { return b == static_cast<std::byte>(c); });
  };
  ASSERT_TRUE(same());
  const long before = resident_pages_of(f.bytes());
  f.release(f.bytes().subspan(page + 1, 3 * page));  // covers pages 2 and 3 wholly, 1 and 4 in part
  if (before == 8) {                                 // else this system does not show which pages are present
    EXPECT_EQ(resident_pages_of(f.bytes().subspan(page, page)), 1);
    EXPECT_EQ(resident_pages_of(f.bytes().subspan(2 * page, 2 * page)), 0);
    EXPECT_EQ(resident_pages_of(f.bytes().subspan(4 * page, page)), 1);
  }
  EXPECT_TRUE(same());
  f.release(f.bytes().subspan(5, 10));  // no whole page
  f.release({});
  const std::byte elsewhere[8] = {};
  f.release(elsewhere);
  EXPECT_TRUE(same());
}

}  // namespace mapped_file_posix_test
