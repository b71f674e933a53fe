// Archives: many recordings, shared among runs that are killed, started again and stopped by a full disk.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace steno_archive_test {

namespace fs = std::filesystem;
using steno::test::outcome;

class steno_archive : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"train", "question", "shopping"})
      fs::copy(recording(name), at(std::string(name) + ".wav"));
  }
  static fs::path recording(const std::string& name) {
    return fs::path(STENO_SOURCE_DIR) / "examples/audio" / (name + ".wav");
  }
  // A wav.scp of so many recordings, three that differ.
  void make_archive(int recordings) {
    fs::create_directory(at("audio"));
    std::ofstream list(at("wav.scp"));
    for (int i = 0; i < recordings; ++i) {
      const std::string id = "utt" + std::to_string(i);
      const char* const names[] = {"train", "question", "shopping"};
      fs::create_hard_link(at(std::string(names[i % 3]) + ".wav"), at("audio/" + id + ".wav"));
      list << id << " audio/" << id << ".wav\n";
    }
  }
  fs::path at(const std::string& name) { return dir.path() / name; }
  std::string in_dir(const std::string& arguments) { return "'" STENO_PROGRAM "' --threads 1 " + arguments; }
  outcome run(const std::string& arguments) { return steno::test::shell(dir, in_dir(arguments)); }
  std::string text(const fs::path& file) {
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    return all.str();
  }
  // Results by name.
  std::map<std::string, std::string> results(const char* folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(at(folder)))
      if (entry.path().extension() == ".txt") all[entry.path().stem().string()] = text(entry.path());
    return all;
  }
  // How often each name stands in the lists of what is done; lines that were cut do not count.
  std::map<std::string, int> listed(const char* folder) {
    std::map<std::string, int> times;
    for (const auto& list : fs::directory_iterator(at(folder) / ".steno-done")) {
      if (!list.path().filename().string().starts_with("done")) continue;
      std::ifstream in(list.path());
      for (std::string line; std::getline(in, line);) {
        const auto said = nlohmann::json::parse(line, nullptr, false);
        if (said.is_object()) ++times[said["name"].get<std::string>()];
      }
    }
    return times;
  }
  // Every recording was done once, and its result is that of a run over all.
  void expect_whole(std::size_t recordings) {
    ASSERT_EQ(run("-q --manifest wav.scp -o alone/").code, 0);
    EXPECT_EQ(results("alone").size(), recordings);
    EXPECT_EQ(results("out"), results("alone"));
    const auto times = listed("out");
    EXPECT_EQ(times.size(), recordings);
    for (const auto& [name, n] : times) EXPECT_EQ(n, 1) << name;
  }
  // Waits until so many results are listed; false when the program ended before.
  bool wait_for(std::size_t recordings) {
    for (int i = 0; i < 6000; ++i) {
      std::error_code none;
      if (fs::is_directory(at("out/.steno-done"), none) && listed("out").size() >= recordings) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  steno::test::temporary_directory dir;
};

TEST_F(steno_archive, ids_name_results_and_parts_are_parts) {
  std::ofstream(at("wav.scp")) << "utt1 train.wav\nutt2 question.wav\n";
  ASSERT_EQ(run("-q --manifest wav.scp -o kaldi/").code, 0);
  EXPECT_EQ(text(at("kaldi/utt1.txt")), run("-q train.wav").out);
  EXPECT_EQ(text(at("kaldi/utt2.txt")), run("-q question.wav").out);
  std::ofstream(at("nemo.json"))
      << "{\"audio_filepath\": \"train.wav\", \"offset\": 1.0, \"duration\": 1.5, \"text\": \"\"}\n"
         "{\"audio_filepath\": \"train.wav\", \"duration\": 9, \"lang\": \"en\"}\n";
  const outcome o = run("--manifest nemo.json --format json -o nemo/");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("\"lang\" of 1 entries is not heeded"), std::string::npos) << o.err;
  EXPECT_EQ(text(at("nemo/train_1000_2500.json")), run("-q --offset 1 --duration 1.5 --format json train.wav").out);
  EXPECT_EQ(text(at("nemo/train.json")), run("-q --format json train.wav").out);
  // The verbs that share such lists do the same.
  EXPECT_EQ(steno::test::shell(dir, "'" STENO_PROGRAM "' vad -q --manifest nemo.json -o vad/").code, 0);
  EXPECT_TRUE(fs::exists(at("vad/train_1000_2500.txt")));
  EXPECT_EQ(run("--manifest nemo.json --offset 1").code, 2);
}

TEST_F(steno_archive, what_fails_is_listed_with_its_reason_and_stops_nothing) {
  std::ofstream(at("bad.wav")) << "no sound";
  std::ofstream(at("wav.scp")) << "utt1 train.wav\nutt2 bad.wav\nutt3 none.wav\nutt4 question.wav\n";
  const std::string same = "--manifest wav.scp -o out/ --resume";
  const outcome o = run("-q " + same);
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("2 of 4 files failed; out/.steno-done/failed.jsonl says why"), std::string::npos) << o.err;
  EXPECT_EQ(results("out").size(), 2u);
  EXPECT_NE(
      text(at("out/.steno-done/failed.jsonl")).find("\"name\":\"utt2\",\"audio\":\"bad.wav\",\"failed\":\"bad.wav: "),
      std::string::npos)
      << text(at("out/.steno-done/failed.jsonl"));
  const outcome left = run(same + " --list-left");
  EXPECT_EQ(left.code, 1);
  EXPECT_NE(left.err.find("2 of 4 inputs are done, 2 are left, 2 of these failed"), std::string::npos) << left.err;
  std::istringstream lines(left.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["name"], "utt2");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["name"], "utt3");
  EXPECT_NE(nlohmann::json::parse(line)["failed"].get<std::string>().find("No such file"), std::string::npos) << line;
  EXPECT_FALSE(std::getline(lines, line));
  // Mended: it is no failure any more.
  for (const char* name : {"bad.wav", "none.wav"})
    fs::copy(recording("train"), at(name), fs::copy_options::overwrite_existing);
  EXPECT_EQ(run("-q " + same).code, 0);
  const outcome whole = run(same + " --list-left");
  EXPECT_EQ(whole.code, 0);
  EXPECT_EQ(whole.out, "");
  EXPECT_NE(whole.err.find("4 of 4 inputs are done, 0 are left, 0 of these failed"), std::string::npos) << whole.err;
  EXPECT_EQ(run("--manifest wav.scp -o out/ --list-left").code, 2);
}

TEST_F(steno_archive, nothing_is_made_by_asking_what_is_left) {
  const outcome o = run("-o out/ --resume --list-left train.wav question.wav");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out,
            "{\"name\":\"train\",\"audio\":\"train.wav\"}\n{\"name\":\"question\",\"audio\":\"question.wav\"}\n");
  EXPECT_FALSE(fs::exists(at("out")));
}

// Killed at once, and gone on with by another number of shards at the same time.
TEST_F(steno_archive, a_killed_shard_loses_nothing_and_repeats_nothing) {
  make_archive(45);
  const std::string same = "-q --manifest wav.scp -o out/ --resume";
  {
    steno::test::running_program first("sh -c \"cd '" + dir.path().string() + "' && exec " +
                                       in_dir(same + " --shard 0/2") + '"');
    ASSERT_TRUE(wait_for(3));
    first.send(SIGKILL);
    EXPECT_EQ(first.wait(), 128 + SIGKILL);
  }
  const auto before = listed("out");
  EXPECT_LT(before.size(), 23u);  // it was in the middle
  std::map<std::string, fs::file_time_type> times;
  for (const auto& [name, n] : before) times[name] = fs::last_write_time(at("out/" + name + ".txt"));
  const outcome o = steno::test::shell(dir, in_dir(same + " --shard 1/3") + " & " + in_dir(same + " --shard 2/3") +
                                                " & " + in_dir(same + " --shard 3/3") + "; a=$?; wait; exit $a");
  EXPECT_EQ(o.code, 0) << o.err;
  for (const auto& [name, time] : times) EXPECT_EQ(fs::last_write_time(at("out/" + name + ".txt")), time) << name;
  expect_whole(45);
  EXPECT_EQ(run(same + " --list-left").code, 0);
}

// SIGTERM, which batch systems send: there is no result that is not whole.
TEST_F(steno_archive, an_interrupted_shard_leaves_whole_results_alone) {
  make_archive(45);
  const std::string same = "-q --manifest wav.scp -o out/ --resume";
  steno::test::running_program first("sh -c \"cd '" + dir.path().string() + "' && exec " + in_dir(same) + '"');
  ASSERT_TRUE(wait_for(3));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait(), 128 + SIGTERM);
  EXPECT_EQ(results("out").size(), listed("out").size());
  EXPECT_LT(results("out").size(), 45u);
  for (const auto& entry : fs::directory_iterator(at("out")))
    EXPECT_EQ(entry.path().filename().string().find(".part-"), std::string::npos) << entry.path();
  EXPECT_EQ(run(same).code, 0);
  expect_whole(45);
}

// Files that may not grow: the list of what is done is cut inside a line.
TEST_F(steno_archive, a_file_that_cannot_grow_ends_a_run_and_loses_nothing) {
  make_archive(9);
  const std::string same = "-q --manifest wav.scp -o out/ --resume";
  const outcome o = steno::test::shell(dir, "ulimit -f 1; " + in_dir(same));
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("File too large"), std::string::npos) << o.err;
  const std::size_t before = listed("out").size();
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, 9u);
  EXPECT_EQ(run(same).code, 0);
  expect_whole(9);
}

TEST_F(steno_archive, a_full_disk_ends_a_run_and_loses_nothing) {
  fs::create_directory(at("out"));
  const std::string mount = "mount -t tmpfs -o size=32k none out";
  if (steno::test::shell(dir, "unshare -rm sh -c '" + mount + "'").code != 0)
    GTEST_SKIP() << "needs a file system of its own (unshare, mount)";
  make_archive(20);
  const std::string same = in_dir("-q --manifest wav.scp -o out/ --resume");
  std::ofstream(at("script"))
      << mount << "\n"
      << same << "; echo first $?; ls out/*.txt | wc -l; ls -l --time-style=full-iso out/*.txt > first\n"
      << "mount -o remount,size=4m out\n"
      << same << "; echo then $?\n"
      << "ls -l --time-style=full-iso out/*.txt > then; mkdir copy; cp -r out/. copy\n";
  const outcome o = steno::test::shell(dir, "unshare -rm sh script");
  EXPECT_NE(o.err.find("No space left on device"), std::string::npos) << o.err;
  EXPECT_EQ(o.out.find("first 1\n"), 0u) << o.out;
  EXPECT_NE(o.out.find("then 0\n"), std::string::npos) << o.out;
  fs::remove(at("out"));
  fs::rename(at("copy"), at("out"));
  expect_whole(20);
}

// As where a batch system starts a task again whose first process it cannot reach.
TEST_F(steno_archive, each_run_has_lists_of_its_own) {
  make_archive(4);
  const std::string same = "-q --manifest wav.scp -o out/ --resume --shard 0/2";
  ASSERT_EQ(run(same).code, 0);
  const std::string first = text(at("out/.steno-done/done-0-of-2.jsonl"));
  fs::remove(at("out/utt0.txt"));
  ASSERT_EQ(run(same).code, 0);
  EXPECT_EQ(text(at("out/.steno-done/done-0-of-2.jsonl")), first);
  EXPECT_NE(text(at("out/.steno-done/done-0-of-2.2.jsonl")).find("\"utt0\""), std::string::npos);
  ASSERT_EQ(run(same).code, 0);  // nothing to do
  EXPECT_FALSE(fs::exists(at("out/.steno-done/done-0-of-2.3.jsonl")));
  // Another process's file is not touched.
  fs::remove(at("out/utt0.txt"));
  const outcome o = steno::test::shell(
      dir, "echo 'echo foreign > out/utt0.txt.part-$$; exec '\"" + in_dir(same) + "\" > script; sh script");
  EXPECT_EQ(o.code, 0) << o.err;
  int foreign = 0;
  for (const auto& entry : fs::directory_iterator(at("out")))
    if (text(entry.path()) == "foreign\n") ++foreign;
  EXPECT_EQ(foreign, 1);
  EXPECT_TRUE(fs::exists(at("out/utt0.txt")));
}

}  // namespace steno_archive_test
