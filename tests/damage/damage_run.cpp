// damage-run: gives every damaged file of the corpus to the programs and tells which of them do not end as promised.
//
//   damage-run [--only GLOB] [--sample N] [--model NAME] [--jobs N] [--every-layer] [--list] [--report FILE]
//
// --only      cases whose name matches, such as 'gguf/demo/key/*' (also 'gguf/.../1e6;info' for one command)
// --sample N  N cases for each model, always the same ones
// --keep DIR  keeps the damaged files of the cases that are run there
// Exit status: 0 all as promised, 1 some were not, 2 wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "damage/corpus.hpp"
#include "damage/damages.hpp"
#include "damage/scratch.hpp"
#include "damage/verdict.hpp"

namespace steno::damage {
namespace {

namespace fs = std::filesystem;

struct settings {
  std::vector<std::string> only, models;
  std::size_t sample = 0;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool every_layer = false, list = false, verbose = false;
  std::string report, keep;
};

struct failure {
  std::string name;  // of the case, with the command
  std::string kind;
  ending end;
};

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

#ifdef STENO_DAMAGE_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

limits limits_of_case() {
  if (!sanitized) return {30, std::uint64_t{4} << 30, {}};
  return {120, 0, {"ASAN_OPTIONS=max_allocation_size_mb=4096:detect_leaks=0:quarantine_size_mb=16"}};
}

// What a message may hold to tell the place: keys (also without the family's name before them), tensors, the layers
// that tensors belong to, and two things that must agree, of which nobody knows which one is wrong.
std::vector<std::string> places_of(const gguf_parts& parts) {
  std::set<std::string> all = {"key \"", "tensor \"", " differ: ", "data of the tensors runs beyond the end"};
  for (const key_part& k : parts.keys) all.insert({k.name, k.name.substr(k.name.find('.') + 1)});
  for (const tensor_part& t : parts.tensors) {
    all.insert(t.name);
    for (std::size_t end = t.name.find('.'); end != std::string::npos; end = t.name.find('.', end + 1))
      all.insert(t.name.find('.') == end ? '"' + t.name.substr(0, end) + '"' : t.name.substr(0, end));
  }
  return {all.begin(), all.end()};
}

// What no model may hold: numbers that are none in a key, in a tensor that loading looks at (docs/security.md), and
// weights of integers. Where it is of no consequence, the result is that of the undamaged model.
bool must_refuse(const one_damage& d, const gguf_parts& parts, const use& u) {
  if (u.name == "info" || u.name == "convert") return false;  // neither looks at values
  static const std::set<std::string> anywhere = {"nan",     "inf",          "-inf",        "type-i32",
                                                 "type-i8", "matrices-i32", "matrices-i8", "matrices-f64"};
  static const std::set<std::string> values = {"value-nan", "value-one-nan", "value-inf"};
  if (!d.is_tensor() || values.count(d.value) == 0) return anywhere.count(d.value) != 0;
  for (const tensor_part& t : parts.tensors)
    if (t.name == d.subject) return t.type != 0 || t.data.size() < 64u << 10;
  return false;
}

expectation expected(const one_damage& d, const gguf_parts& parts, const std::vector<std::string>& places,
                     const use& u) {
  expectation x;
  x.file = "damaged.gguf";
  if (sanitized) x.seconds = 60, x.bytes = std::uint64_t{4} << 30;
  if (!d.subject.empty()) x.places = places;
  if (d.subject == "general.architecture" || d.subject == "steno.version") x.places.push_back("architecture");
  if (must_refuse(d, parts, u)) x.only_with = u.right;
  return x;
}

bool wanted(const settings& s, const std::string& name) {
  if (s.only.empty()) return true;
  for (const std::string& glob : s.only)
    if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

// `count` of them, spread evenly by a fixed generator.
void thin(std::vector<one_damage>& all, std::size_t count) {
  std::mt19937 random(33);
  while (all.size() > count) {
    std::swap(all[random() % all.size()], all.back());
    all.pop_back();
  }
}

class run {
 public:
  run(const settings& s, const workplace& at) : settings_(s), at_(at) {}

  void model(const corpus_model& m) {
    const gguf_parts parts(m.file.string());
    std::vector<one_damage> cases = damages_of(m.name, parts, settings_.every_layer);
    std::erase_if(cases, [&](const one_damage& d) {
      return !wanted(settings_, d.name) && std::none_of(m.uses.begin(), m.uses.end(), [&](const use& u) {
        return wanted(settings_, d.name + ";" + u.name);
      });
    });
    if (settings_.sample != 0) thin(cases, settings_.sample);
    if (settings_.list) {
      for (const one_damage& d : cases) std::printf("%s\n", d.name.c_str());
      return;
    }
    std::fprintf(stderr, "%-24s %6zu cases:", m.name.c_str(), cases.size());
    for (const use& u : m.uses) std::fprintf(stderr, " %s", u.name.c_str());
    std::fprintf(stderr, "\n");
    const std::vector<std::string> places = places_of(parts);
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < settings_.jobs; ++w)
      workers.emplace_back([&, w] {
        const fs::path own = at_.scratch / std::to_string(w);
        fs::create_directories(own);
        for (std::size_t i; (i = next.fetch_add(at_once)) < cases.size();)
          some(m, parts, places, std::span(cases).subspan(i, std::min(at_once, cases.size() - i)), own);
      });
    for (std::thread& t : workers) t.join();
  }

  int report() const;

 private:
  // Of these files, each with each use.
  void some(const corpus_model& m, const gguf_parts& parts, const std::vector<std::string>& places,
            std::span<const one_damage> cases, const fs::path& own) {
    std::vector<std::vector<std::string>> commands;
    std::vector<std::pair<const one_damage*, const use*>> of;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const one_damage& d = cases[i];
      const fs::path folder = own / std::to_string(i), file = folder / "damaged.gguf";
      fs::create_directories(folder);
      const std::string bytes = d.file(parts);
      write_file(file, bytes);
      if (!settings_.keep.empty()) {
        std::string flat = d.name;
        for (char& c : flat)
          if (c == '/') c = '+';
        write_file(fs::path(settings_.keep) / (flat + ".gguf"), bytes);
      }
      for (const use& u : m.uses) {
        if (!wanted(settings_, d.name) && !wanted(settings_, d.name + ";" + u.name)) continue;
        if (d.is_tensor() && u.name == "info" && settings_.only.empty()) continue;  // reads nothing but their names
        commands.push_back(command_line(at_, u, file.string(), (folder / "out.gguf").string()));
        of.emplace_back(&d, &u);
      }
    }
    const std::vector<ending> ended = run_children(commands, limits_of_case(), in_turn, (own / "commands").string());
    const std::lock_guard lock(lock_);
    for (std::size_t i = 0; i < ended.size(); ++i) tell(*of[i].first, *of[i].second, ended[i], parts, places);
  }

  void tell(const one_damage& d, const use& u, const ending& e, const gguf_parts& parts,
            const std::vector<std::string>& places) {
    const std::string name = d.name + ";" + u.name;
    const auto bad = judge(e, expected(d, parts, places, u));
    ++done_;
    if (settings_.verbose)
      std::printf("%s: rc %d signal %d %.2f s %.0f MB: %s", name.c_str(), e.code, e.signal, e.seconds,
                  double(e.peak_bytes) / 1e6, (e.err.empty() ? e.out : e.err).c_str());
    if (bad) failures_[*bad].push_back({name, d.kind() + ";" + u.name, e});
  }

  // As many files as repay a start, and as many commands as repay a copy.
  static constexpr std::size_t at_once = sanitized ? 64 : 16, in_turn = sanitized ? 16 : 1;

  const settings& settings_;
  const workplace& at_;
  std::mutex lock_;
  std::size_t done_ = 0;
  std::map<trouble, std::vector<failure>> failures_;
};

// What a child said, as one line of at most 300 printable bytes.
std::string line_of(const std::string& text) {
  std::string s;
  for (const char c : text.substr(0, 300)) {
    const auto u = static_cast<unsigned char>(c);
    char hex[8];
    if (u >= 0x20 && u < 0x7f)
      s += c;
    else
      std::snprintf(hex, sizeof hex, "\\x%02x", u), s += hex;
  }
  return s;
}

int run::report() const {
  std::FILE* to = settings_.report.empty() ? stdout : std::fopen(settings_.report.c_str(), "w");
  if (to == nullptr) return 2;
  std::size_t bad = 0;
  for (const auto& [t, all] : failures_) {
    std::map<std::string, std::vector<const failure*>> kinds;
    for (const failure& f : all) kinds[f.kind].push_back(&f);
    std::fprintf(to, "\n== %s: %zu runs, %zu classes\n", name_of(t), all.size(), kinds.size());
    for (const auto& [kind, of] : kinds) {
      const ending& e = of.front()->end;
      std::fprintf(to, "%s (%zu): ", kind.c_str(), of.size());
      if (e.signal != 0)
        std::fprintf(to, "signal %d, ", e.signal);
      else
        std::fprintf(to, "exit status %d, ", e.code);
      std::fprintf(to, "%.1f s, %.0f MB: %s\n", e.seconds, double(e.peak_bytes) / 1e6, line_of(e.err).c_str());
    }
    bad += all.size();
  }
  std::fprintf(to, "\n%zu runs, %zu not as promised\n", done_, bad);
  if (to != stdout) std::fclose(to);
  return bad == 0 ? 0 : 1;
}

settings parse(int argc, char** argv) {
  settings s;
  const auto stop = [&](const std::string& about) {
    std::fprintf(stderr, "damage-run: %s\n", about.c_str());
    std::exit(2);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) stop(a + " needs a value");
      return argv[i];
    };
    if (a == "--only")
      s.only.push_back(value());
    else if (a == "--model")
      s.models.push_back(value());
    else if (a == "--sample")
      s.sample = std::stoul(value());
    else if (a == "--jobs")
      s.jobs = std::max(1u, unsigned(std::stoul(value())));
    else if (a == "--report")
      s.report = value();
    else if (a == "--keep")
      s.keep = value();
    else if (a == "--every-layer")
      s.every_layer = true;
    else if (a == "--list")
      s.list = true;
    else if (a == "--verbose")
      s.verbose = true;
    else
      stop("unknown option " + a);
  }
  return s;
}

}  // namespace
}  // namespace steno::damage

int main(int argc, char** argv) try {
  using namespace steno::damage;
  const settings s = parse(argc, argv);
  const scratch_folder scratch;
  workplace at{STENO_PROGRAM, STENO_CONVERT_PROGRAM, scratch.path(), STENO_SOURCE_DIR "/examples/audio/train.wav",
               scratch.path() / "text.txt"};
  write_file(at.text, "the train leaves at nine\n");
  run r(s, at);
  int code = 0;
  const std::vector<corpus_model> models = corpus(at, s.models);
  for (const std::string& name : s.models)
    if (std::none_of(models.begin(), models.end(), [&](const corpus_model& m) { return m.name == name; }))
      throw std::runtime_error("there is no model " + name);
  for (const corpus_model& m : models) {
    r.model(m);
    if (!s.list && !s.report.empty()) code = r.report();
  }
  return s.list || !s.report.empty() ? code : r.report();
} catch (const std::exception& e) {
  std::fprintf(stderr, "damage-run: %s\n", e.what());
  return 2;
}
