#include <steno/weights/mapped_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <support/golden.hpp>
#include <type_traits>

namespace mapped_file_test {

using steno::weights::mapped_file;

std::string write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}
std::string message_of(const std::string& path) {
  try {
    mapped_file f(path);
  } catch (const steno::error& e) {
    return e.what();
  }
  return "no error";
}
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

static_assert(!std::is_copy_constructible_v<mapped_file> && std::is_nothrow_move_constructible_v<mapped_file>);

TEST(mapped_file, holds_the_bytes_of_the_file_and_moves) {
  const steno::test::temporary_directory folder;
  const std::string path = write(folder.path() / "a.bin", std::string("abc\0def", 7));
  mapped_file a(path);
  EXPECT_EQ(a.path(), path);
  ASSERT_EQ(a.bytes().size(), 7u);
  EXPECT_EQ(a.bytes()[4], std::byte{'d'});
  const std::byte* where = a.bytes().data();
  mapped_file b(std::move(a));
  EXPECT_EQ(b.bytes().data(), where);
  EXPECT_EQ(b.path(), path);
  mapped_file c;
  EXPECT_TRUE(c.bytes().empty());
  c = std::move(b);
  EXPECT_EQ(c.bytes().data(), where);
  EXPECT_EQ(c.bytes()[0], std::byte{'a'});
}

TEST(mapped_file, says_what_is_wrong) {
  const steno::test::temporary_directory folder;
  const std::string missing = (folder.path() / "missing.gguf").string();
  EXPECT_EQ(message_of(missing), missing + ": cannot open the file: No such file or directory");
  EXPECT_EQ(message_of(folder.path()), folder.path().string() + ": is a directory, not a file");
  const std::string empty = write(folder.path() / "empty", "");
  EXPECT_EQ(message_of(empty), empty + ": the file is empty");
  const std::string pointer =
      write(folder.path() / "pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n");
  EXPECT_EQ(message_of(pointer), pointer + ": a git-LFS pointer, not the file itself (run git lfs pull)");
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

// A copy keeps its bytes whatever happens to the file; a mapping does only when the file is replaced by another.
TEST(mapped_file, a_copy_outlives_changes_of_the_file) {
  const steno::test::temporary_directory folder;
  const std::string path = write(folder.path() / "a.bin", std::string(10000, 'a'));
  const mapped_file copy(path, steno::weights::file_reading::copied);
  EXPECT_TRUE(copy.copied());
  mapped_file moved = mapped_file(path, steno::weights::file_reading::copied);
  EXPECT_TRUE(moved.copied());
  std::filesystem::resize_file(path, 10);
  write(path, std::string(20000, 'b'));
  ASSERT_EQ(copy.bytes().size(), 10000u);
  for (const std::byte b : copy.bytes()) ASSERT_EQ(b, std::byte{'a'});
  moved.release(moved.bytes());  // gone, and not read from the file again
  EXPECT_EQ(moved.bytes()[5000], std::byte{0});
}

}  // namespace mapped_file_test
