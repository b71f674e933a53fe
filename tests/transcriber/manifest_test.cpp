// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/golden.hpp"

namespace manifest_test {

namespace fs = std::filesystem;
using steno::app::manifest_entry;
using steno::app::path_of;
using steno::app::read_manifest;

class manifests : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(dir.path() / name) << text;
    return (dir.path() / name).string();
  }
  std::vector<manifest_entry> entries(const std::string& name, const std::string& text) {
    return read_manifest(file(name, text)).entries;
  }
  // What is said behind the file's name.
  std::string error(const std::string& name, const std::string& text) {
    try {
      entries(name, text);
    } catch (const steno::error& e) {
      return std::string(e.what()).substr((dir.path() / name).string().size());
    }
    return "accepted";
  }
  steno::test::temporary_directory dir;
};

TEST_F(manifests, nemos_lines) {
  const auto list = entries(
      "test_manifest.json",
      "{\"audio_filepath\": \"wavs/a.wav\", \"duration\": 2.5, \"text\": \"x\"}\n"
      "{\"audio_filepath\": \"wavs/a.wav\", \"offset\": 1.5, \"duration\": 2.25, \"text\": \"-\", \"lang\": \"en\"}\n"
      "{\"audio_filepath\": \"b.wav\", \"offset\": 0, \"duration\": null, \"label\": \"infer\", \"rttm_filepath\": "
      "null}\n"
      "{\"audio_filename\": \"c.wav\", \"offset\": 7, \"uniq_id\": \"meeting\"}\n"
      "{\"audio_filepath\": \"d.wav\", \"offset\": 7}\n");
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].audio, "wavs/a.wav");
  EXPECT_EQ(list[0].name, "");
  EXPECT_EQ(list[0].part.offset, 0);
  EXPECT_EQ(list[0].part.duration, 2.5);  // NeMo reads no more either
  EXPECT_EQ(list[0].seconds, 2.5);
  EXPECT_EQ(list[1].name, "a_1500_3750");
  EXPECT_EQ(list[1].part.offset, 1.5);
  EXPECT_EQ(list[2].name, "");
  EXPECT_FALSE(list[2].part.duration);
  EXPECT_LT(list[2].seconds, 0);
  EXPECT_EQ(list[3].name, "meeting");
  EXPECT_EQ(list[3].part.offset, 7);
  EXPECT_EQ(list[4].name, "d_7000");
}

TEST_F(manifests, funasrs_lines) {
  const auto list = entries("train.jsonl",
                            "{\"key\": \"utt1\", \"source\": \"/data/a.wav\", \"source_len\": 88, \"target\": \"x\", "
                            "\"target_len\": 1}\n{\"source\": \"b.wav\"}\n");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].audio, "/data/a.wav");
  EXPECT_EQ(list[0].name, "utt1");
  EXPECT_FALSE(list[0].part.duration);  // it says how long the recording is, not what is listened to
  EXPECT_DOUBLE_EQ(list[0].seconds, 0.88);
  EXPECT_EQ(list[1].name, "");
}

// "source" is also a name of where data come from.
TEST_F(manifests, the_key_that_is_a_path_goes_first) {
  const auto list = entries("a.jsonl", "{\"source\": \"librivox\", \"audio_filepath\": \"a.wav\"}");
  EXPECT_EQ(list.at(0).audio, "a.wav");
  EXPECT_FALSE(list.at(0).beside_manifest);
  EXPECT_TRUE(entries("a.jsonl", "{\"audio\": \"b.wav\", \"audio_filepath\": \"a.wav\"}").at(0).beside_manifest);
}

TEST_F(manifests, kaldis_list) {
  const auto list = entries("wav.scp", "utt1 /data/a b.wav \nutt2\twavs/c.flac\r\n\n");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "utt1");
  EXPECT_EQ(list[0].audio, "/data/a b.wav");
  EXPECT_EQ(list[1].name, "utt2");
  EXPECT_EQ(list[1].audio, "wavs/c.flac");
}

TEST_F(manifests, a_command_is_refused_and_not_run) {
  const std::string ran = (dir.path() / "ran").string();
  const std::string said = error("wav.scp", "utt1 a.wav\nutt2 touch " + ran + " |\n");
  EXPECT_EQ(said.find(":2: utt2 is a command, and none is run: expected a path, found touch"), 0u) << said;
  EXPECT_NE(said.find("name the recording"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(ran));
  EXPECT_NE(error("wav.scp", "utt1 | cat > " + ran).find("is a command"), std::string::npos);
}

TEST_F(manifests, what_kaldi_reads_elsewhere_is_refused) {
  EXPECT_EQ(error("wav.scp", "utt1 data/wav.ark:1234").find(":1: utt1 stands inside of an archive"), 0u);
  EXPECT_EQ(error("wav.scp", "utt1 -").find(":1: standard input is no entry of a manifest"), 0u);
  EXPECT_EQ(error("wav.scp", "utt1").find(":1: not an entry of a wav.scp"), 0u);
}

TEST_F(manifests, plain_lists) {
  const auto list = entries("list.txt", "\xef\xbb\xbf/data/a b.wav\r\n\n  c.flac\n#d.wav\n");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].audio, "/data/a b.wav");
  EXPECT_EQ(list[1].audio, "c.flac");
  EXPECT_EQ(list[2].audio, "#d.wav");
  EXPECT_EQ(error("list.txt", "a.wav\n-\n").find(":2: standard input is no entry"), 0u);
  // Lines of JSON are known without their name.
  EXPECT_EQ(entries("list", "{\"audio\": \"a.wav\"}").at(0).audio, "a.wav");
}

TEST_F(manifests, ids_are_names_of_files_and_stand_alone) {
  EXPECT_EQ(
      error("wav.scp", "utt1 a.wav\nutt2 b.wav\nutt1 c.wav").find(":3: the id utt1 comes twice (first in line 1)"), 0u)
      << error("wav.scp", "utt1 a.wav\nutt2 b.wav\nutt1 c.wav");
  for (const std::string id : {"../x", "a/b", ".", "..", ".steno-done", "/etc/x"})
    EXPECT_EQ(error("wav.scp", id + " a.wav").find(":1: an id that names no file"), 0u) << id;
  for (const std::string id : {"", " x", "a\\nb", "a\\u0000b"})
    EXPECT_EQ(error("a.jsonl", "{\"source\": \"a.wav\", \"key\": \"" + id + "\"}").find(":1: an id that names no file"),
              0u)
        << id;
  EXPECT_NE(error("wav.scp", std::string(201, 'x') + " a.wav").find("an id that names no file"), std::string::npos);
  EXPECT_EQ(error("a.jsonl", "{\"source\": \"a.wav\", \"key\": 7}").find(":1: \"key\": expected text"), 0u);
}

TEST_F(manifests, bad_ones_name_the_line) {
  const std::string expected =
      ": not a manifest entry: expected a JSON object with \"audio\", \"audio_filepath\" or \"source\": PATH";
  EXPECT_EQ(error("bad.jsonl", "{\"audio\": \"a.wav\"}\n{oops}\n"), ":2" + expected);
  for (const char* bad : {"[1]", "1", "{\"audio\": 3}", "{\"audio\": \"\"}", "{}", "{\"audio\": \"a\xff\"}"})
    EXPECT_EQ(error("bad.jsonl", bad), ":1" + expected) << bad;
  EXPECT_EQ(error("bad.jsonl", "\n\n"), ": the manifest names no audio");
  for (const char* bad : {"-1", "\"2\"", "1e300", "true", "[]"})
    for (const char* key : {"offset", "duration"})
      EXPECT_EQ(error("bad.jsonl", std::string("{\"audio\": \"a\", \"") + key + "\": " + bad + "}")
                    .find(std::string(":1: \"") + key + "\": expected a number from 0 on"),
                0u)
          << bad;
  EXPECT_THROW(read_manifest((dir.path() / "none.jsonl").string()), steno::error);
}

TEST_F(manifests, what_others_would_heed_is_noted) {
  const auto read = read_manifest(file("a.jsonl",
                                       "{\"audio\": \"a\", \"lang\": \"en\", \"text\": \"x\"}\n{\"audio\": \"b\", "
                                       "\"lang\": \"de\", \"pnc\": \"yes\"}\n"));
  ASSERT_EQ(read.notes.size(), 2u);
  EXPECT_NE(read.notes[0].find("\"lang\" of 2 entries is not heeded"), std::string::npos) << read.notes[0];
  EXPECT_NE(read.notes[1].find("\"pnc\" of 1 entries"), std::string::npos) << read.notes[1];
}

TEST_F(manifests, paths_are_those_of_the_working_directory_or_of_the_manifest) {
  const std::string list = file("list.txt", "x");
  const auto at = [&](manifest_entry e) { return path_of(e, list); };
  EXPECT_EQ(at({.audio = "/abs.wav"}), "/abs.wav");
  EXPECT_EQ(at({.audio = "sub/none.wav"}), (dir.path() / "sub/none.wav").string());
  const auto here = fs::current_path();
  steno::test::temporary_directory elsewhere;
  std::ofstream(elsewhere.path() / "both.wav") << "x";
  fs::current_path(elsewhere.path());
  EXPECT_EQ(at({.audio = "both.wav"}), "both.wav");
  EXPECT_EQ(at({.audio = "both.wav", .beside_manifest = true}), (dir.path() / "both.wav").string());
  fs::current_path(here);
}

}  // namespace manifest_test
