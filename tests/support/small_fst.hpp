// Small transducers as OpenFst stores them, and archives of them: the grammars of tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno::test {

/// A transducer of bytes whose first state is 0.
class small_fst {
 public:
  explicit small_fst(int states) : arcs_(static_cast<std::size_t>(states)), final_(arcs_.size(), false) {}

  void end_in(int state) { final_[static_cast<std::size_t>(state)] = true; }
  /// Reads `in` on the way, then writes `out`.
  void path(int from, int to, std::string_view in, std::string_view out, float cost = 0) {
    const std::size_t steps = std::max<std::size_t>(in.size() + out.size(), 1);
    for (std::size_t i = 0; i < steps; ++i) {
      const int next = i + 1 == steps ? to : static_cast<int>(arcs_.size());
      const auto byte = [](std::string_view s, std::size_t at) {
        return at < s.size() ? static_cast<int>(static_cast<unsigned char>(s[at])) : 0;
      };
      arcs_[static_cast<std::size_t>(from)].push_back(
          {byte(in, i), i < in.size() ? 0 : byte(out, i - in.size()), i == 0 ? cost : 0, next});
      if (i + 1 < steps) {
        arcs_.emplace_back();
        final_.push_back(false);
      }
      from = next;
    }
  }

  std::string bytes() const {
    std::ostringstream out;
    std::int64_t arcs = 0;
    for (const auto& state : arcs_) arcs += static_cast<std::int64_t>(state.size());
    put<std::int32_t>(out, 0x7eb2fdd6);
    put_text(out, "vector");
    put_text(out, "standard");
    put<std::int32_t>(out, 2);   // version
    put<std::int32_t>(out, 0);   // no symbols
    put<std::uint64_t>(out, 3);  // it is expanded and mutable; nothing else is known
    put<std::int64_t>(out, 0);
    put<std::int64_t>(out, static_cast<std::int64_t>(arcs_.size()));
    put<std::int64_t>(out, arcs);
    for (std::size_t s = 0; s < arcs_.size(); ++s) {
      put<float>(out, final_[s] ? 0.0f : std::numeric_limits<float>::infinity());
      put<std::int64_t>(out, static_cast<std::int64_t>(arcs_[s].size()));
      for (const arc& a : arcs_[s]) {
        put<std::int32_t>(out, a.in);
        put<std::int32_t>(out, a.out);
        put<float>(out, a.cost);
        put<std::int32_t>(out, a.to);
      }
    }
    return out.str();
  }

  void write(const std::filesystem::path& file) const { std::ofstream(file, std::ios::binary) << bytes(); }

  /// OpenFst's archive "sttable", names in order.
  static void write_archive(const std::filesystem::path& file,
                            const std::vector<std::pair<std::string, const small_fst*>>& entries) {
    std::ostringstream out;
    std::vector<std::int64_t> places;
    put<std::int32_t>(out, 2125656924);
    put<std::int32_t>(out, 1);
    for (const auto& [name, graph] : entries) {
      places.push_back(static_cast<std::int64_t>(out.tellp()));
      put_text(out, name);
      out << graph->bytes();
    }
    for (const std::int64_t at : places) put<std::int64_t>(out, at);
    put<std::int64_t>(out, static_cast<std::int64_t>(places.size()));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << out.str();
  }

 private:
  struct arc {
    int in, out;
    float cost;
    int to;
  };
  template <class T>
  static void put(std::ostream& out, T v) {
    out.write(reinterpret_cast<const char*>(&v), sizeof v);
  }
  static void put_text(std::ostream& out, std::string_view s) {
    put<std::int32_t>(out, static_cast<std::int32_t>(s.size()));
    out << s;
  }

  std::vector<std::vector<arc>> arcs_;
  std::vector<bool> final_;
};

/// WeText's pair in `folder`: "seven" is 7, "twenty three" is 23, all else stays.
inline void write_wetext_rules(const std::filesystem::path& folder, const std::string& language = "en") {
  small_fst tagger(1), verbalizer(2);
  tagger.end_in(0);
  verbalizer.end_in(1);
  verbalizer.path(1, 0, " ", "");
  for (const auto& [said, figures] : {std::pair("seven", "7"), std::pair("twenty three", "23")}) {
    const std::string token = std::string("cardinal { value: \"") + figures + "\" }";
    tagger.path(0, 0, said, token + " ");
    verbalizer.path(0, 1, token, figures);
  }
  for (int c = ' '; c < 0x7f; ++c) {
    if (c == '"' || c == '\\') continue;
    const std::string letter(1, static_cast<char>(c)), token = "char { value: \"" + letter + "\" }";
    tagger.path(0, 0, letter, token + " ", 1);
    verbalizer.path(0, 1, token, letter);
  }
  tagger.write(folder / (language + "_itn_tagger.fst"));
  verbalizer.write(folder / (language + "_itn_verbalizer.fst"));
}

/// NeMo's export in `folder`: "seven minutes" is a measure whose fields stand in an order that the verbalizer does not
/// read; a full stop is a token of its own.
inline void write_nemo_rules(const std::filesystem::path& folder) {
  small_fst tagger(3), verbalizer(2);
  tagger.end_in(2);
  verbalizer.end_in(1);
  tagger.path(0, 2, "seven minutes", "tokens { measure { units: \"min\" cardinal { integer: \"7\" } } }");
  verbalizer.path(0, 1, "measure { cardinal { integer: \"7\" } units: \"min\" }", "7\xc2\xa0min");
  for (int c = 'a'; c <= 'z'; ++c) {
    const std::string letter(1, static_cast<char>(c));
    tagger.path(0, 1, letter, "tokens { name: \"" + letter, 1);
    tagger.path(1, 1, letter, letter);
  }
  tagger.path(1, 0, " ", "\" } ");
  tagger.path(2, 0, " ", " ");
  tagger.path(1, 2, "", "\" }");
  tagger.path(2, 2, ".", " tokens { name: \".\" }");
  small_fst::write_archive(folder / "classify/tokenize_and_classify.far", {{"TOKENIZE_AND_CLASSIFY", &tagger}});
  small_fst::write_archive(folder / "verbalize/verbalize.far", {{"ALL", &verbalizer}});
}

}  // namespace steno::test
