// Files that appear under their name only when they are complete, however the writer ends.
#include <steno/weights/atomic_file.hpp>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

#include "support/golden.hpp"

namespace atomic_file_test {

namespace fs = std::filesystem;
using steno::weights::atomic_file;

constexpr auto both = {atomic_file::scratch::nameless, atomic_file::scratch::named};

class files : public testing::Test {
 protected:
  fs::path target() const { return directory.path() / "model.gguf"; }
  void put(const fs::path& path, std::string_view text) const { std::ofstream(path) << text; }
  std::string content() const {
    std::ifstream in(target());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& e : fs::directory_iterator(directory.path())) all.insert(e.path().filename().string());
    return all;
  }
  void write(std::string_view text, atomic_file::scratch kind) const {
    atomic_file out(target().string(), kind);
    out.write(std::as_bytes(std::span(text)));
    out.commit();
  }
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

  const steno::test::temporary_directory directory;
};

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

TEST_F(files, keep_the_permissions_of_what_they_replace) {
  for (const auto kind : both)
    for (const int mode : {0600, 0640, 0444}) {
      put(directory.path() / "fresh", "x");
      fs::rename(directory.path() / "fresh", target());
      fs::permissions(target(), static_cast<fs::perms>(mode));
      write("new", kind);
      EXPECT_EQ(static_cast<int>(fs::status(target()).permissions()), mode);
    }
}

TEST_F(files, new_ones_have_the_permissions_that_any_new_file_has) {
  put(directory.path() / "any", "x");
  for (const auto kind : both) {
    fs::remove(target());
    write("new", kind);
    EXPECT_EQ(fs::status(target()).permissions(), fs::status(directory.path() / "any").permissions());
  }
}

TEST_F(files, nothing_is_left_of_a_killed_writer) {
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

TEST_F(files, of_living_writers_and_of_others_are_left_alone) {
  const std::string parent = std::to_string(::getppid());
  for (const std::string& name : {std::string("model.gguf.part-") + parent + "-0", std::string("model.gguf.part-x-0"),
                                  std::string("model.gguf.part-"), std::string("other.gguf.part-999999999-0")})
    put(directory.path() / name, "x");
  write("new", atomic_file::scratch::nameless);
  EXPECT_EQ(names().size(), 5u);
}

}  // namespace atomic_file_test
