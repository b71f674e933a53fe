// What starts shards: the scripts of tools/archive, each run as its engine runs them. Slurm itself is in check-slurm.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "programs/run_program.hpp"

namespace steno_engines_test {

namespace fs = std::filesystem;
using steno::test::outcome;

class steno_engines : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(at("archive/audio"));
    fs::create_directory(at("bin"));
    fs::create_symlink(STENO_PROGRAM, at("bin/steno"));
    fs::create_symlink(fs::path(STENO_SOURCE_DIR) / "examples/models/demo.gguf", at("archive/model.gguf"));
    std::ofstream list(at("archive/calls.jsonl"));
    const char* const names[] = {"train", "question", "shopping"};
    for (int i = 0; i < recordings; ++i) {
      const std::string file = "audio/call" + std::to_string(i) + ".wav";
      fs::copy(fs::path(STENO_SOURCE_DIR) / "examples/audio" / (std::string(names[i % 3]) + ".wav"),
               at("archive/" + file));
      list << "{\"audio_filepath\": \"" << file << "\", \"duration\": " << 2 + i % 3 << "}\n";
    }
  }
  fs::path at(const std::string& name) const { return dir.path() / name; }
  outcome run(const std::string& command) {
    return steno::test::shell(dir, "PATH=\"$PWD/bin:$PATH\"; export PATH; " + command);
  }
  static std::string tool(const char* name) {
    return "'" STENO_SOURCE_DIR "/tools/archive/" + std::string(name) + "' ";
  }
  std::string contents(const fs::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  std::size_t results(const char* folder = "archive/out") const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(at(folder))) count += entry.path().extension() == ".json" ? 1u : 0u;
    return count;
  }
  static constexpr int recordings = 9;
  const std::string arguments = "-m archive/model.gguf --manifest archive/calls.jsonl --format json -o archive/out/";
  steno::test::temporary_directory dir;
};

// Its container's own command, as kubelet starts it, once for each index.
TEST_F(steno_engines, kubernetes_job) {
  const YAML::Node spec = YAML::LoadFile(std::string(STENO_SOURCE_DIR) + "/tools/archive/kubernetes-job.yaml")["spec"];
  EXPECT_EQ(spec["completionMode"].as<std::string>(), "Indexed");
  const YAML::Node pod = spec["template"]["spec"], container = pod["containers"][0];
  EXPECT_EQ(pod["restartPolicy"].as<std::string>(), "Never");  // as backoffLimitPerIndex needs it
  EXPECT_EQ(container["name"].as<std::string>(),
            spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["containerName"].as<std::string>());
  std::map<std::string, std::string> environment;
  for (const YAML::Node& variable : container["env"])
    environment[variable["name"].as<std::string>()] = variable["value"].as<std::string>();
  EXPECT_EQ(environment.at("STENO_SHARDS"), spec["completions"].as<std::string>());
  std::string command;
  for (const char* part : {"command", "args"})
    for (const YAML::Node& word : container[part]) {
      std::string text = word.as<std::string>();
      if (text.starts_with("/archive/")) text.erase(0, 1);  // where it is mounted
      command += " '" + text + "'";
    }
  for (int index = 0; index < 3; ++index) {
    const outcome o = run("STENO_SHARDS=3 JOB_COMPLETION_INDEX=" + std::to_string(index) + command);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(results(), 3u * static_cast<unsigned>(index + 1));
  }
}

TEST_F(steno_engines, slurm_array) {
  const auto task = [&](const std::string& variables) {
    return run(variables + " " + tool("slurm-array") + arguments);
  };
  const std::string of_three =
      "SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_ID=";
  EXPECT_EQ(task(of_three + "0").code, 0);
  EXPECT_EQ(results(), 3u);
  EXPECT_TRUE(fs::exists(at("archive/out/.steno-done/done-0-of-3.jsonl")));
  // Counted from one.
  EXPECT_EQ(task("SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_ID=3").code,
            0);
  EXPECT_EQ(results(), 3u);  // the same shard: all was done
  // A part of the array: how many shards there are must be told.
  const std::string part =
      "SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_ID=";
  const outcome o = task(part + "2");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("STENO_SHARDS"), std::string::npos) << o.err;
  EXPECT_EQ(task("STENO_SHARDS=3 " + part + "1").code, 0);
  EXPECT_EQ(task("STENO_SHARDS=3 SLURM_CPUS_PER_TASK=2 " + part + "2").code, 0);
  EXPECT_EQ(results(), 9u);
  EXPECT_EQ(run(tool("slurm-array") + arguments).code, 1);  // not a task of an array
}

TEST_F(steno_engines, gnu_parallel) {
  if (run("parallel --version | grep -q GNU").code != 0) GTEST_SKIP() << "needs GNU parallel";
  const outcome o = run(tool("parallel") + "4 " + arguments);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(results(), 9u);
  // One recording that fails is one shard that does.
  std::ofstream(at("archive/audio/call4.wav")) << "no sound";
  EXPECT_EQ(run(tool("parallel") + "4 " + arguments).code, 1);
  EXPECT_EQ(run(tool("parallel") + arguments).code, 2);
}

TEST_F(steno_engines, merge) {
  ASSERT_EQ(run("steno -q " + arguments + " --resume --shard 0/3").code, 0);
  std::ofstream(at("archive/out/call4.json.part-77")) << "what a killed run left";
  const outcome some = run(tool("merge") + arguments);
  EXPECT_EQ(some.code, 1);
  EXPECT_NE(some.err.find("3 of 9 inputs are done, 6 are left"), std::string::npos) << some.err;
  EXPECT_FALSE(fs::exists(at("archive/out/call4.json.part-77")));
  EXPECT_EQ(results(), 3u);
  EXPECT_NE(contents(at("archive/out/left.jsonl")).find("\"name\":\"call4\""), std::string::npos);
  ASSERT_EQ(run("steno -q " + arguments + " --resume").code, 0);
  EXPECT_EQ(run(tool("merge") + arguments).code, 0);
  EXPECT_EQ(contents(at("archive/out/left.jsonl")), "");
  // What cannot be told is no result.
  std::ofstream(at("archive/calls.jsonl")) << "{oops}\n";
  fs::remove(at("archive/out/left.jsonl"));
  EXPECT_NE(run(tool("merge") + arguments).code, 0);
  EXPECT_FALSE(fs::exists(at("archive/out/left.jsonl")));
  EXPECT_EQ(run(tool("merge") + "--manifest archive/calls.jsonl").code, 2);
}

}  // namespace steno_engines_test
