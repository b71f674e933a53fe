// What is there stays until the new text is whole, and what was written before something goes wrong is kept.
// SPDX-License-Identifier: Apache-2.0
#include "output_place.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/golden.hpp"

namespace output_place_test {

namespace fs = std::filesystem;
using steno::app::output_place;

class output_places : public testing::Test {
 protected:
  std::string at(const char* name) { return (dir.path() / name).string(); }
  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t files() {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()));
  }
  steno::test::temporary_directory dir;
  std::FILE* nowhere = std::tmpfile();
  steno::app::screen screen{nowhere, nowhere};
  void TearDown() override { std::fclose(nowhere); }
};

TEST_F(output_places, a_file_is_replaced_when_its_text_is_whole) {
  std::ofstream(at("out.txt")) << "old";
  output_place out(at("out.txt"), {}, screen);
  EXPECT_EQ(files(), 1u);
  out.put("new ");
  EXPECT_EQ(contents(at("out.txt")), "old");
  EXPECT_EQ(contents(at("out.txt.part-") + std::to_string(::getpid())), "new ");  // can be watched
  out.put("text");
  out.finish();
  EXPECT_EQ(contents(at("out.txt")), "new text");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_places, without_any_text_nothing_is_made) {
  std::ofstream(at("out.txt")) << "old";
  {
    output_place out(at("out.txt"), {}, screen), other(at("other.txt"), {}, screen);
    out.finish();
  }
  EXPECT_EQ(contents(at("out.txt")), "old");
  EXPECT_EQ(files(), 1u);
}

// An error on the way to the end of the run loses nothing.
TEST_F(output_places, what_was_written_is_kept) {
  {
    output_place out(at("out.txt"), {}, screen);
    out.put("half");
  }
  EXPECT_EQ(contents(at("out.txt")), "half");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_places, in_a_directory_each_file_is_whole_when_the_next_begins) {
  output_place out(at("out/"), {}, screen);
  out.begin({"a.wav", "a"}, ".txt");
  out.put("one");
  EXPECT_FALSE(fs::exists(at("out/a.txt")));
  out.begin({"b.wav", "b"}, ".txt");
  EXPECT_EQ(contents(at("out/a.txt")), "one");
  out.begin({"c.wav", "c"}, ".txt");
  out.put("");
  out.finish();
  EXPECT_FALSE(fs::exists(at("out/b.txt")));
  EXPECT_TRUE(fs::exists(at("out/c.txt")));
}

TEST_F(output_places, files_that_are_read_are_refused_by_any_of_their_names) {
  std::ofstream(at("model.gguf")) << "weights";
  fs::create_symlink("model.gguf", at("link"));
  fs::create_hard_link(at("model.gguf"), at("hard"));
  steno::app::read_files reads;
  reads.add(at("model.gguf"), "model");
  for (const char* name : {"model.gguf", "link", "hard"})
    EXPECT_THROW(output_place(at(name), reads, screen), steno::app::stop) << name;
  EXPECT_NO_THROW(output_place(at("model.txt"), reads, screen));
  output_place folder(dir.path().string(), reads, screen);
  EXPECT_THROW(folder.begin({"x", "model"}, ".gguf"), steno::app::stop);
}

}  // namespace output_place_test
