// SPDX-License-Identifier: Apache-2.0
#include "fst_rules.hpp"

#include <fst/compose.h>
#include <fst/extensions/far/far.h>
#include <fst/shortest-path.h>
#include <fst/vector-fst.h>
#include <fst/verify.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

namespace steno::app {

struct fst_rules::transducer {
  fst::StdVectorFst arcs;
};

namespace {

constexpr std::int32_t fst_magic = 0x7eb2fdd6;

// What OpenFst tells the terminal is kept instead.
class kept_messages {
 public:
  kept_messages() : terminal_(std::cerr.rdbuf(said_.rdbuf())) {}
  ~kept_messages() { std::cerr.rdbuf(terminal_); }
  kept_messages(const kept_messages&) = delete;
  kept_messages& operator=(const kept_messages&) = delete;
  /// The first line of it.
  std::string said() const { return said_.str().substr(0, said_.str().find('\n')); }

 private:
  std::ostringstream said_;
  std::streambuf* terminal_;
};

// Whether the header of a transducer promises no more than its file can hold: OpenFst makes room for what it says.
bool is_plausible(std::istream& in, std::int64_t bytes, std::string& problem) {
  fst::FstHeader header;
  if (!header.Read(in, "")) return problem = "this is no transducer of OpenFst's", false;
  if (header.ArcType() != "standard")
    return problem = "arcs of type standard are expected, found " + header.ArcType(), false;
  constexpr std::int64_t state_bytes = 12, arc_bytes = 16;
  if (header.NumStates() > bytes / state_bytes || header.NumArcs() > bytes / arc_bytes)
    return problem = "it says that it has more states than the file can hold", false;
  return true;
}

bool file_is_plausible(const std::string& path, bool archive, std::string& problem) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::int64_t bytes = in ? static_cast<std::int64_t>(in.tellg()) : 0;
  in.seekg(0);
  if (archive) return bytes > 0 || (problem = "the file is empty or cannot be read", false);
  std::int32_t magic = 0;
  in.read(reinterpret_cast<char*>(&magic), sizeof magic);
  if (!in || magic != fst_magic) return problem = "this is no transducer of OpenFst's", false;
  in.seekg(0);
  return is_plausible(in, bytes, problem);
}

}  // namespace

fst_rules::fst_rules(std::unique_ptr<transducer> graph) : graph_(std::move(graph)) {}
fst_rules::~fst_rules() = default;

std::unique_ptr<fst_rules> fst_rules::read(const std::string& path, const std::string& name, std::string& problem) {
  FLAGS_fst_error_fatal = false;  // it would end the process
  const kept_messages errors;
  const bool archive = path.size() > 4 && path.compare(path.size() - 4, 4, ".far") == 0;
  auto graph = std::make_unique<transducer>();
  try {
    if (!file_is_plausible(path, archive, problem)) return nullptr;
    if (archive) {
      const std::unique_ptr<fst::FarReader<fst::StdArc>> reader(fst::FarReader<fst::StdArc>::Open(path));
      if (!reader || reader->Error()) return problem = "this is no archive of transducers", nullptr;
      if (!reader->Find(name)) return problem = "the archive has no transducer " + name, nullptr;
      const fst::Fst<fst::StdArc>* const found = reader->GetFst();
      if (found == nullptr) return problem = errors.said(), nullptr;
      graph->arcs = fst::StdVectorFst(*found);
    } else {
      const std::unique_ptr<fst::Fst<fst::StdArc>> found(fst::Fst<fst::StdArc>::Read(path));
      if (!found) return problem = errors.said(), nullptr;
      graph->arcs = fst::StdVectorFst(*found);
    }
    if (!fst::Verify(graph->arcs) || graph->arcs.Start() == fst::kNoStateId)
      return problem = "its arcs lead nowhere", nullptr;
  } catch (const std::exception& e) {
    return problem = std::string("reading it failed: ") + e.what(), nullptr;
  }
  return std::unique_ptr<fst_rules>(new fst_rules(std::move(graph)));
}

bool fst_rules::rewrite(const std::string& text, std::string& output) const {
  using fst::StdArc;
  const std::lock_guard<std::mutex> lock(one_at_a_time_);
  fst::StdVectorFst bytes, paths, best;
  int last = bytes.AddState();
  bytes.SetStart(last);
  for (const char c : text) {
    const int next = bytes.AddState(), label = static_cast<unsigned char>(c);
    bytes.AddArc(last, StdArc(label, label, StdArc::Weight::One(), next));
    last = next;
  }
  bytes.SetFinal(last, StdArc::Weight::One());
  fst::Compose(bytes, graph_->arcs, &paths);
  fst::ShortestPath(paths, &best);
  output.clear();
  if (best.Start() == fst::kNoStateId) return false;
  for (int at = best.Start();;) {
    const fst::ArcIterator<fst::StdVectorFst> arc(best, at);
    if (arc.Done()) return true;
    if (arc.Value().olabel > 0) output += static_cast<char>(arc.Value().olabel);
    at = arc.Value().nextstate;
  }
}

}  // namespace steno::app
