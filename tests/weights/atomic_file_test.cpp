// Files that appear under their name only when they are complete, however the writer ends.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/atomic_file.hpp>

#include <gtest/gtest.h>

#include "atomic_files.hpp"

namespace atomic_file_test {

using namespace steno::test;
using steno::weights::atomic_file;
class files : public atomic_files {};

TEST_F(files, appear_at_commit) {
  for (const auto kind : both) {
    write("old", kind);
    {
      atomic_file out(target().string(), kind);
      out.write(std::as_bytes(std::span("half", 4)));
      EXPECT_EQ(content(), "old");
    }
    EXPECT_EQ(names(), std::set<std::string>{"model.gguf"});
    write("new", kind);
    EXPECT_EQ(content(), "new");
    EXPECT_EQ(names(), std::set<std::string>{"model.gguf"});
  }
}

// A name without a folder is in the current one.
TEST_F(files, of_a_bare_name) {
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  for (const auto kind : both) {
    atomic_file out("model.gguf", kind);
    out.write(std::as_bytes(std::span("bare", 4)));
    out.commit();
    EXPECT_EQ(content(), "bare");
  }
  fs::current_path(before);
  EXPECT_EQ(names(), std::set<std::string>{"model.gguf"});
}

TEST_F(files, two_writers_do_not_meet) {
  for (const auto kind : both) {
    atomic_file a(target().string(), kind), b(target().string(), kind);
    a.write(std::as_bytes(std::span("a", 1)));
    b.write(std::as_bytes(std::span("b", 1)));
    b.commit();
    a.commit();
    EXPECT_EQ(content(), "a");
  }
}

}  // namespace atomic_file_test
