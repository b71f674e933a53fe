// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/atomic_file.hpp>
#include <steno/weights/mapped_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <support/golden.hpp>
#include <type_traits>

#include "mapped_files.hpp"

namespace mapped_file_test {

using steno::test::message_of;
using steno::test::write;
using steno::weights::mapped_file;

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
  EXPECT_EQ(message_of(folder.path().string()), folder.path().string() + ": is a directory, not a file");
  const std::string empty = write(folder.path() / "empty", "");
  EXPECT_EQ(message_of(empty), empty + ": the file is empty");
  const std::string pointer =
      write(folder.path() / "pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n");
  EXPECT_EQ(message_of(pointer), pointer + ": a git-LFS pointer, not the file itself (run git lfs pull)");
}

// Names are UTF-8 and may be longer than Windows' old limit of 260.
TEST(mapped_file, has_any_name) {
  const steno::test::temporary_directory folder;
  const auto text = [](const std::filesystem::path& path) {
    const std::u8string s = path.u8string();
    return std::string(s.begin(), s.end());
  };
  for (const std::filesystem::path& name :
       {std::filesystem::path(u8"\u8bed\u97f3 \u00e9t\u00e9.gguf"), std::filesystem::path(std::string(240, 'n'))}) {
    {
      steno::weights::atomic_file out(text(folder.path() / name));
      out.write(std::as_bytes(std::span("abc", 3)));
      out.commit();
    }
    const mapped_file f(text(folder.path() / name));
    EXPECT_EQ(f.bytes().size(), 3u);
  }
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
#if !defined(__EMSCRIPTEN__)  // which has no pages
  moved.release(moved.bytes());  // gone, and not read from the file again
  EXPECT_EQ(moved.bytes()[5000], std::byte{0});
#endif
}

// What is converted while it is opened: its bytes lie nowhere else.
TEST(mapped_file, of_memory_alone) {
  for (const std::size_t size : {std::size_t{10000}, std::size_t{5} << 20}) {
    mapped_file made("made", size, [&](std::span<std::byte> zeros) {
      ASSERT_EQ(zeros.size(), size);
      for (const std::byte b : zeros) ASSERT_EQ(b, std::byte{0});
      std::fill(zeros.begin(), zeros.end(), std::byte{'a'});
    });
    EXPECT_EQ(made.path(), "made");
    EXPECT_TRUE(made.copied());
    const mapped_file moved = std::move(made);
    ASSERT_EQ(moved.bytes().size(), size);
    for (const std::byte b : moved.bytes()) ASSERT_EQ(b, std::byte{'a'});
    EXPECT_TRUE(moved.holds(moved.bytes().subspan(100, 10)));
#if !defined(__EMSCRIPTEN__)
    moved.release(moved.bytes());
    EXPECT_EQ(moved.bytes()[5000], std::byte{0});
#endif
  }
  const auto stopped = [](std::span<std::byte>) { throw std::runtime_error("as it came"); };
  EXPECT_THROW(mapped_file("made", 10000, stopped), std::runtime_error);
  const auto nothing = [](std::span<std::byte>) {};
  EXPECT_THROW(mapped_file("made", std::numeric_limits<std::size_t>::max() / 4, nothing), steno::core::out_of_memory);
}

}  // namespace mapped_file_test
