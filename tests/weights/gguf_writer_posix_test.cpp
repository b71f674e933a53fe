// A disk that is full, devices and links.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf_writer.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <support/gguf_golden.hpp>
#include <support/refusal.hpp>

namespace gguf_writer_posix_test {

using steno::dtype;
using steno::gguf_file;
using steno::test::files_in;
using steno::test::refusal;
using steno::weights::gguf_writer;

TEST(gguf_writer, refuses_a_device) {
  gguf_writer w;
  EXPECT_EQ(refusal([&] { w.write("/dev/null"); }), "/dev/null: is not a regular file and cannot be replaced");
}

TEST(gguf_writer, a_file_that_cannot_grow_is_an_error) {
  const steno::test::temporary_directory folder;
  const auto path = folder.path() / "model.gguf";
  gguf_writer w;
  w.add("t", dtype::f32, {50000}, [](std::span<std::byte>) {});
  // A limit on the size of files stands for a full disk; the system then fails write() instead of sending the signal.
  struct ::rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct ::rlimit small = before;
  small.rlim_cur = 100000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = refusal([&] { w.write(path.string()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, path.string() + ": cannot write the file: File too large");
  EXPECT_EQ(files_in(folder.path()), 0u);
  w.write(path.string());
  EXPECT_EQ(gguf_file(path.string()).size(), 1u);
}

TEST(gguf_writer, replaces_a_file_and_follows_a_link) {
  const steno::test::temporary_directory folder;
  const auto path = folder.path() / "model.gguf", link = folder.path() / "link.gguf";
  std::ofstream(path) << "old";
  std::filesystem::create_symlink("model.gguf", link);
  gguf_writer w;
  w.set("k", "new");
  w.write(link.string());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(gguf_file(path.string()).text("k"), "new");
  EXPECT_EQ(files_in(folder.path()), 2u);
}

}  // namespace gguf_writer_posix_test
