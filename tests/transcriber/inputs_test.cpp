// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <fstream>

#include "support/golden.hpp"

namespace inputs_test {

namespace fs = std::filesystem;
using steno::app::gather_inputs;
using steno::app::input;
using steno::app::options;
using strings = std::vector<std::string>;

class inputs : public testing::Test {
 protected:
  std::string touch(const std::string& name, const std::string& text = "") {
    fs::create_directories((dir.path() / name).parent_path());
    std::ofstream(dir.path() / name) << text;
    return (dir.path() / name).string();
  }
  strings names(const std::vector<input>& list) {
    strings all;
    for (const input& i : list) all.push_back(i.name);
    return all;
  }
  strings files(const std::vector<input>& list) {
    strings all;
    for (const input& i : list)
      all.push_back(fs::path(i.audio).lexically_normal().lexically_relative(dir.path()).generic_string());
    return all;
  }
  steno::test::temporary_directory dir;
};

TEST_F(inputs, a_directory_is_its_sound_files_by_name) {
  for (const char* name :
       {"d/b.wav", "d/a.FLAC", "d/c.mp3", "d/notes.txt", "d/.hidden.wav", "d/deep/x.wav", "d/noextension"})
    touch(name);
  fs::create_directories(dir.path() / "d" / "folder.wav");
  options o;
  o.audio = {(dir.path() / "z.wav").string(), (dir.path() / "d").string()};
  EXPECT_EQ(files(gather_inputs(o)), (strings{"z.wav", "d/a.FLAC", "d/b.wav", "d/c.mp3"}));
}

TEST_F(inputs, a_directory_without_sound_files_stays_to_be_reported) {
  fs::create_directories(dir.path() / "empty");
  options o;
  o.audio = {(dir.path() / "empty").string(), (dir.path() / "none.wav").string()};
  EXPECT_EQ(files(gather_inputs(o)), (strings{"empty", "none.wav"}));
}

TEST_F(inputs, a_name_does_not_depend_on_what_else_is_in_the_list) {
  options o;
  o.audio = {"a/x.wav", "a/y.wav", "b/x.flac", "-", "plain"};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"x", "y", "x", "stdin", "plain"}));
  o.audio = {"a/x.wav"};
  EXPECT_EQ(names(gather_inputs(o)), strings{"x"});
}

// In a directory, and in RTTM, which knows recordings by their names alone; every shard says so.
TEST_F(inputs, equal_names_are_refused_where_one_would_hide_the_other) {
  options o;
  o.audio = {"a/x.wav", "y.wav", "b/x.wav"};
  o.part = {1, 3};
  EXPECT_EQ(gather_inputs(o).size(), 1u);
  o.output = "out/";
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
  o.output = dir.path().string();
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
  o.output = "";
  o.speech.output_format = steno::app::speech_format::rttm;
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
  o.audio.pop_back();
  EXPECT_NO_THROW(gather_inputs(o));
}

TEST_F(inputs, what_sounds_but_cannot_be_read_is_told) {
  for (const char* name : {"d/a.wav", "d/b.m4a", "d/c.WMA", "d/notes.txt"}) touch(name);
  options o;
  o.audio = {(dir.path() / "d").string()};
  std::vector<steno::app::left_out> left_out;
  EXPECT_EQ(files(gather_inputs(o, &left_out)), strings{"d/a.wav"});
  ASSERT_EQ(left_out.size(), 2u);
  o.reading.ffmpeg = touch("bin/ffmpeg");
  fs::permissions(o.reading.ffmpeg, fs::perms::owner_all);
  left_out = {};
  EXPECT_EQ(files(gather_inputs(o, &left_out)), (strings{"d/a.wav", "d/b.m4a", "d/c.WMA"}));
  EXPECT_TRUE(left_out.empty());
}

// In the order of their names, and where they lie stays known: for output files, which then may have equal names.
TEST_F(inputs, folders_in_folders_where_wanted) {
  for (const char* name : {"d/b.wav", "d/a/z.wav", "d/a/b/b.wav", "d/c/b.wav", "d/.hidden/b.wav", "d/a-1.wav"})
    touch(name);
  fs::create_directory_symlink(dir.path() / "d", dir.path() / "d" / "a" / "loop");
  fs::create_symlink(dir.path() / "d" / "b.wav", dir.path() / "d" / "c" / "link.wav");
  options o;
  o.audio = {(dir.path() / "d").string()};
  EXPECT_EQ(files(gather_inputs(o)), (strings{"d/a-1.wav", "d/b.wav"}));
  o.recursive = true;
  std::vector<steno::app::left_out> left_out;
  const auto list = gather_inputs(o, &left_out);
  EXPECT_EQ(files(list), (strings{"d/a/b/b.wav", "d/a/z.wav", "d/a-1.wav", "d/b.wav", "d/c/b.wav", "d/c/link.wav"}));
  strings folders;
  for (const input& in : list) folders.push_back(in.folder);
  EXPECT_EQ(folders, (strings{"a/b", "a", "", "", "c", "c"}));
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].path, (dir.path() / "d" / "a" / "loop").string());
  o.output = (dir.path() / "out").string() + "/";
  EXPECT_NO_THROW(gather_inputs(o));
  o.audio.push_back(touch("b.wav"));  // d/b.wav is b in the folder, too
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
  o.audio.pop_back();
  o.output.clear();
  o.output_formats = {steno::app::format::ctm};  // which knows names alone
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
}

TEST_F(inputs, a_manifest_is_relative_to_itself) {
  options o;
  o.manifest =
      touch("m/list.jsonl",
            "{\"audio\": \"a.wav\", \"text\": \"x\"}\n\n  \r\n{\"audio\": \"/abs/b.wav\"}\r\n{\"audio\":\"../c.wav\"}");
  o.audio = {(dir.path() / "first.wav").string()};
  const auto list = gather_inputs(o);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(files(list)[0], "first.wav");
  EXPECT_EQ(files(list)[1], "m/a.wav");
  EXPECT_EQ(list[2].audio, "/abs/b.wav");
  EXPECT_EQ(files(list)[3], "c.wav");
}

TEST_F(inputs, a_manifest_says_names_and_parts) {
  options o;
  o.manifest = touch("list.jsonl",
                     "{\"key\": \"utt1\", \"source\": \"a.wav\"}\n{\"audio\": \"b.wav\", \"offset\": 1.5, "
                     "\"duration\": 2, \"lang\": \"en\"}\n");
  o.reading.ffmpeg = "none";
  std::vector<std::string> notes;
  const auto list = gather_inputs(o, nullptr, &notes);
  EXPECT_EQ(names(list), (strings{"utt1", "b_1500_3500"}));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("\"lang\" of 1 entries"), std::string::npos) << notes[0];
  EXPECT_EQ(steno::app::reading_of(o, list[0]).part.offset, 0);
  EXPECT_EQ(steno::app::reading_of(o, list[1]).part.offset, 1.5);
  EXPECT_EQ(steno::app::reading_of(o, list[1]).part.duration, 2);
  // Both say what is listened to.
  o.reading.part.offset = 3;
  EXPECT_THROW(gather_inputs(o), steno::app::stop);
  o.manifest = touch("list.txt", "a.wav\n");
  EXPECT_EQ(steno::app::reading_of(o, gather_inputs(o).at(0)).part.offset, 3);
}

TEST_F(inputs, shards_of_unknown_lengths_take_every_nth_entry_of_the_whole_list) {
  options o;
  o.audio = {"a.wav", "b.wav"};
  o.manifest = touch("list.jsonl", "{\"audio\":\"c.wav\"}\n{\"audio\":\"d.wav\"}\n{\"audio\":\"e.wav\"}\n");
  o.part = {0, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"a", "c", "e"}));
  o.part = {1, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"b", "d"}));
  o.part = {5, 9};
  EXPECT_TRUE(gather_inputs(o).empty());
}

// Lengths that the manifest tells, else those by the sizes of files; every shard sees the same.
TEST_F(inputs, shards_are_balanced_by_length) {
  options o;
  o.manifest = touch("list.jsonl",
                     "{\"audio\":\"a.wav\",\"duration\":10}\n{\"audio\":\"b.wav\",\"duration\":1}\n"
                     "{\"audio\":\"c.wav\",\"duration\":4}\n{\"audio\":\"d.wav\",\"duration\":6}\n");
  o.part = {0, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"a", "b"}));
  o.part = {1, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"c", "d"}));
  touch("m/a.wav", std::string(3000, 'x'));
  touch("m/b.wav", std::string(1000, 'x'));
  touch("m/c.wav", std::string(5000, 'x'));
  o.manifest = touch("m/list.txt", "a.wav\nb.wav\nc.wav\nnone.wav\n");
  o.part = {2, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"c"}));
  o.part = {1, 2};
  EXPECT_EQ(names(gather_inputs(o)), (strings{"a", "b", "none"}));
}

}  // namespace inputs_test
