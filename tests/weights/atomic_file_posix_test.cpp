// Permissions, and writers that are killed.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/atomic_file.hpp>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include <csignal>

#include "atomic_files.hpp"

namespace atomic_file_posix_test {

using namespace steno::test;
using steno::weights::atomic_file;

class files_of_posix : public atomic_files {
 protected:
  // A child that has written half of the file and waits is killed. False where the child could not start.
  void killed_writer(atomic_file::scratch kind) const {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      atomic_file out(target().string(), kind);
      out.write(std::as_bytes(std::span("half", 4)));
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char c = 0;
    ASSERT_EQ(::read(ready[0], &c, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  bool has_nameless_files() const {
    const int file = ::open(directory.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    return file >= 0;
  }
};

TEST_F(files_of_posix, keep_the_permissions_of_what_they_replace) {
  for (const auto kind : both)
    for (const int mode : {0600, 0640, 0444}) {
      put(directory.path() / "fresh", "x");
      fs::rename(directory.path() / "fresh", target());
      fs::permissions(target(), static_cast<fs::perms>(mode));
      write("new", kind);
      EXPECT_EQ(static_cast<int>(fs::status(target()).permissions()), mode);
    }
}

TEST_F(files_of_posix, new_ones_have_the_permissions_that_any_new_file_has) {
  put(directory.path() / "any", "x");
  for (const auto kind : both) {
    fs::remove(target());
    write("new", kind);
    EXPECT_EQ(fs::status(target()).permissions(), fs::status(directory.path() / "any").permissions());
  }
}

TEST_F(files_of_posix, nothing_is_left_of_a_killed_writer) {
  put(target(), "old");
  if (has_nameless_files()) {
    killed_writer(atomic_file::scratch::nameless);
    EXPECT_EQ(names(), std::set<std::string>{"model.gguf"});
  }
  // Where the file has a name from the start, the next writer of the target removes it.
  killed_writer(atomic_file::scratch::named);
  EXPECT_EQ(names().size(), 2u);
  write("new", atomic_file::scratch::named);
  EXPECT_EQ(names(), std::set<std::string>{"model.gguf"});
  EXPECT_EQ(content(), "new");
}

TEST_F(files_of_posix, of_living_writers_and_of_others_are_left_alone) {
  const std::string parent = std::to_string(::getppid());
  for (const std::string& name : {std::string("model.gguf.part-") + parent + "-0", std::string("model.gguf.part-x-0"),
                                  std::string("model.gguf.part-"), std::string("other.gguf.part-999999999-0")})
    put(directory.path() / name, "x");
  write("new", atomic_file::scratch::nameless);
  EXPECT_EQ(names().size(), 5u);
}

}  // namespace atomic_file_posix_test
