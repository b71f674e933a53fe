// damage-short: runs the programs with short memory: every n-th allocation fails in turn, then the address space is
// limited. A run must give the result that it gives otherwise, or end with exit status 1 and one line.
//
//   damage-short [--only GLOB] [--positions N] [--limits N] [--from] [--jobs N] [--verbose]
//
// --positions N  allocations of each command that fail in turn, spread over all of them [60]
// --limits N     limits of the address space [27]
// --from         not only the n-th, but all later allocations fail, too
// Exit status: 0 all as promised, 1 some were not, 2 wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "damage/child.hpp"
#include "damage/scratch.hpp"
#include "damage/verdict.hpp"

namespace steno::damage {
namespace {

const std::string source = STENO_SOURCE_DIR, models = source + "/examples/models/", golden = source + "/tests/golden/",
                  sound = source + "/examples/audio/train.wav";

struct settings {
  std::string only = "*";
  unsigned positions = 60, limits = 27, jobs = std::max(1u, std::thread::hardware_concurrency());
  bool from = false, verbose = false;
};

struct command {
  std::string name;
  std::vector<std::string> line;
};

std::vector<command> commands(const std::filesystem::path& scratch) {
  const std::string text = (scratch / "text.txt").string(), out = (scratch / "out").string();
  std::ofstream(text) << "the train leaves at nine\n";
  std::vector<command> all;
  const auto add = [&](std::string name, std::vector<std::string> line, bool threads = true) {
    if (threads) line.insert(line.end(), {"--threads", "2"});
    all.push_back({std::move(name), std::move(line)});
  };
  for (const char* m : {"demo", "paraformer", "parakeet-ctc", "parakeet-tdt", "u2", "qwen3-asr"})
    add(m, {STENO_PROGRAM, "-m", models + m + ".gguf", "--format", "json", sound});
  add("whisper", {STENO_PROGRAM, "-m", models + "whisper.gguf", "--word-timestamps", "--format", "srt", sound});
  for (const char* m : {"parakeet-eou", "parakeet-tdt", "u2"})
    add(std::string("stream-") + m, {STENO_PROGRAM, "stream", "-m", models + m + ".gguf", sound}, false);
  add("vad", {STENO_PROGRAM, "vad", "--vad", models + "fsmn-vad.gguf", sound}, false);
  add("diarize", {STENO_PROGRAM, "diarize", "-m", golden + "sortformer/model.gguf", sound});
  add("align", {STENO_PROGRAM, "align", "-m", golden + "qwen3_aligner/model.gguf", "--text", text, sound}, false);
  add("punctuate", {STENO_PROGRAM, "-m", models + "demo.gguf", "--punctuate", golden + "ct_punc/model.gguf", sound});
  add("info", {STENO_PROGRAM, "info", "-m", models + "whisper.gguf"}, false);
  add("convert", {STENO_CONVERT_PROGRAM, models + "demo.gguf", "-o", out, "--type", "q8_0"}, false);
  return all;
}

struct job {
  std::string name;
  const command* of;
  limits limit;
  std::string right;   // what it writes when nothing fails
  bool early = false;  // fails before a file is known, or nobody knows where
};

// Nothing when the run ended well, else what is wrong. An error names a file; where there is none yet, it says what
// there is too little of.
std::string wrong(const ending& e, const job& j) {
  const auto says = [&](const char* part) { return e.err.find(part) != std::string::npos; };
  if (e.timed_out) return "too long";
  if (e.signal != 0) return "signal " + std::to_string(e.signal);
  if (e.code == 0) return e.out == j.right ? "" : "another result, exit status 0";
  if (e.code != 1) return "exit status " + std::to_string(e.code);
  if (has_control_bytes(e.err)) return "control bytes";
  if (std::count(e.err.begin(), e.err.end(), '\n') != 1 || e.err.back() != '\n') return "not one line";
  if (says(".gguf") || says(".wav") || says("text.txt") || says("the command line: ")) return "";
  if (j.early && (says("memory") || says("thread"))) return "";
  return "names no file";
}

class run {
 public:
  explicit run(const settings& s) : settings_(s), commands_(commands(scratch_.path())) {}

  int all() {
    for (const command& c : commands_) plan(c);
    std::vector<std::thread> workers;
    std::atomic<std::size_t> next{0};
    for (unsigned w = 0; w < settings_.jobs; ++w)
      workers.emplace_back([&] {
        for (std::size_t i; (i = next++) < jobs_.size();) one(jobs_[i]);
      });
    for (std::thread& t : workers) t.join();
    for (const auto& [what, names] : bad_) {
      std::printf("== %s: %zu runs\n", what.c_str(), names.size());
      for (const std::string& n : names) std::printf("%s\n", n.c_str());
    }
    std::printf("%zu runs: %zu right results, %zu clean errors, %zu not as promised\n", jobs_.size(), right_, clean_,
                jobs_.size() - right_ - clean_);
    return right_ + clean_ == jobs_.size() ? 0 : 1;
  }

 private:
  void plan(const command& c) {
    const auto wanted = [&](const std::string& name) {
      return ::fnmatch(settings_.only.c_str(), name.c_str(), 0) == 0;
    };
    if (!wanted(c.name + "/allocation/1") && !wanted(c.name + "/limit/1") && settings_.only != "*" &&
        settings_.only.find(c.name) == std::string::npos)
      return;
    const std::string counted = (scratch_.path() / "count").string();
    const std::string preload = "LD_PRELOAD=" STENO_FAIL_ALLOCATION_LIBRARY;
    const auto allocations = [&](const std::vector<std::string>& line) {
      const ending e = run_child(line, {60, 0, {preload, "STENO_COUNT_TO=" + counted}});
      unsigned long n = 0;
      std::ifstream(counted) >> n;
      return std::pair(e, n);
    };
    const auto [usual, count] = allocations(c.line);
    if (usual.code != 0 || count == 0) throw std::runtime_error(c.name + " fails: " + usual.err);
    // As many as it takes to read the command line and to find that there is no such file.
    const unsigned long early = allocations({c.line[0], "/no/such/file"}).second;
    // More of the early ones, where each is another; late ones are often one loop's.
    unsigned long last = 0;
    for (unsigned i = 0; i < settings_.positions; ++i) {
      const double place = std::pow((i + 1.0) / settings_.positions, 2.0);
      const auto n = std::max(last + 1, static_cast<unsigned long>(place * double(count)));
      if (n > count) break;
      last = n;
      const std::string name = c.name + "/allocation/" + std::to_string(n);
      const std::string variable = settings_.from ? "STENO_FAIL_FROM=" : "STENO_FAIL_ALLOCATION=";
      if (wanted(name))
        jobs_.push_back({name, &c, {60, 0, {preload, variable + std::to_string(n)}}, usual.out, n <= early});
    }
    for (unsigned i = 0; i < settings_.limits; ++i) {
      const auto megabytes = static_cast<std::uint64_t>(floor() * std::pow(1.1, double(i)));
      const std::string name = c.name + "/limit/" + std::to_string(megabytes);
      if (wanted(name)) jobs_.push_back({name, &c, {60, megabytes << 20, {}}, usual.out, true});
    }
  }

  // Megabytes in which the program starts at all: the dynamic loader's part of it is not ours.
  double floor() {
    while (floor_ == 0 || run_child({STENO_PROGRAM, "--version"}, {60, std::uint64_t(floor_) << 20, {}}).code != 0)
      ++floor_;
    return floor_ + 1;
  }

  void one(const job& j) {
    const ending e = run_child(j.of->line, j.limit);
    const std::string what = wrong(e, j);
    const std::lock_guard lock(lock_);
    if (settings_.verbose)
      std::printf("%s: %s, exit status %d: %s", j.name.c_str(), what.c_str(), e.code, e.err.c_str());
    if (!what.empty())
      bad_[what].push_back(j.name + ": " + e.err.substr(0, 300));
    else
      ++(e.code == 0 ? right_ : clean_);
  }

  settings settings_;
  scratch_folder scratch_;
  std::vector<command> commands_;
  std::vector<job> jobs_;
  std::mutex lock_;
  std::map<std::string, std::vector<std::string>> bad_;
  std::size_t right_ = 0, clean_ = 0;
  double floor_ = 0;
};

settings parse(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const bool more = i + 1 < argc;
    if (a == "--from")
      s.from = true;
    else if (a == "--verbose")
      s.verbose = true;
    else if (a == "--only" && more)
      s.only = argv[++i];
    else if (a == "--positions" && more)
      s.positions = unsigned(std::stoul(argv[++i]));
    else if (a == "--limits" && more)
      s.limits = unsigned(std::stoul(argv[++i]));
    else if (a == "--jobs" && more)
      s.jobs = std::max(1u, unsigned(std::stoul(argv[++i])));
    else
      throw std::runtime_error("unknown option, or one without its value: " + a);
  }
  return s;
}

}  // namespace
}  // namespace steno::damage

int main(int argc, char** argv) try {
  return steno::damage::run(steno::damage::parse(argc, argv)).all();
} catch (const std::exception& e) {
  std::fprintf(stderr, "damage-short: %s\n", e.what());
  return 2;
}
