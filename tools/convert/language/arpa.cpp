// tools/convert/language/arpa.cpp - see arpa.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "arpa.hpp"

#include <steno/models/language_model.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "../model_tensors.hpp"
#include "../number_text.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace language_files {

namespace {

constexpr std::size_t longest_word = 1000;  // bytes
constexpr float to_natural = 2.302585093f;

// Lines of a text, and the words of each.
class arpa_lines {
 public:
  arpa_lines(std::string_view text, const std::string& where) : rest_(text), where_(&where) {}

  // The next line that is not empty, without white space around it; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(rest_.size(), end + 1));
      ++number_;
      while (!line_.empty() && blank(line_.front())) line_.remove_prefix(1);
      while (!line_.empty() && blank(line_.back())) line_.remove_suffix(1);
      if (!line_.empty()) return true;
    }
    line_ = {};
    return false;
  }
  std::string_view line() const { return line_; }
  // Takes the next word off the line's front; empty at its end.
  std::string_view word() {
    std::size_t n = 0;
    while (n < line_.size() && !blank(line_[n])) ++n;
    const std::string_view w = line_.substr(0, n);
    line_.remove_prefix(n);
    while (!line_.empty() && blank(line_.front())) line_.remove_prefix(1);
    return w;
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& expected, std::string_view found) const {
    fail({.where = *where_ + ", line " + std::to_string(number_),
          .what = what,
          .expected = expected,
          .found = core::printable(found.substr(0, 64))});
  }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view rest_, line_ = {};
  const std::string* where_;
  std::size_t number_ = 0;
};

std::optional<float> number(std::string_view text) {
  float x = 0;
  const auto [end, failed] = read_number(text, x);
  if (failed == std::errc::result_out_of_range && end == text.data() + text.size()) return 0.0f;  // tiny
  if (failed != std::errc() || end != text.data() + text.size() || std::isnan(x)) return std::nullopt;
  return x;
}

// log10 of a probability, which -99 and minus infinity are both zero of.
float log_prob(arpa_lines& in) {
  const std::string_view text = in.word();
  const auto x = number(text);
  if (!x || *x > 1e-3f) in.refuse("probability of an n-gram", "a logarithm, 0 or below", text);
  return std::min(0.0f, std::max(*x, -99.0f)) * to_natural;
}
float backoff(arpa_lines& in) {
  const std::string_view text = in.word();
  if (text.empty()) return 0;
  const auto x = number(text);
  if (!x || *x > 99 || !in.line().empty()) in.refuse("back-off of an n-gram", "a logarithm, or nothing", text);
  return std::max(*x, -99.0f) * to_natural;
}

// "\data\" and its "ngram N=COUNT" lines; the line behind them is the next one.
std::vector<std::size_t> read_counts(arpa_lines& in, std::size_t bytes) {
  std::vector<std::size_t> counts;
  while (in.next() && in.line() != "\\data\\") continue;
  if (in.line().empty()) in.refuse("language model", "a line \\data\\", "none");
  while (in.next() && in.line().starts_with("ngram ")) {
    const std::string_view line = in.line().substr(6);
    const std::size_t at = line.find('=');
    std::size_t order = 0, count = 0;
    const char* const end = line.data() + line.size();
    const bool ok = at != std::string_view::npos &&
                    std::from_chars(line.data(), line.data() + at, order).ptr == line.data() + at &&
                    std::from_chars(line.data() + at + 1, end, count).ptr == end;
    // A line of an n-gram has four bytes and more.
    if (!ok || order != counts.size() + 1 || order > search::ngram::max_order || count > bytes / 4)
      in.refuse("number of n-grams",
                "ngram " + std::to_string(counts.size() + 1) + "=COUNT, up to order " +
                    std::to_string(search::ngram::max_order) + ", as many as the file can hold",
                in.line());
    counts.push_back(count);
  }
  if (counts.empty() || counts[0] == 0) in.refuse("language model", "numbers of n-grams", in.line());
  return counts;
}

// An n-gram before it has its place.
struct entry {
  std::uint32_t parent, word;
  float log_prob, backoff;
};

}  // namespace

search::ngram_tables read_arpa(std::string_view text, const std::string& where, std::vector<std::string>& notes) {
  arpa_lines in(text, where);
  const std::vector<std::size_t> counts = read_counts(in, text.size());
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{1});
  if (total > search::ngram::max_nodes)
    in.refuse("language model", std::to_string(search::ngram::max_nodes) + " n-grams or fewer", std::to_string(total));
  search::ngram_tables t;
  std::unordered_map<std::string_view, std::uint32_t> words;  // of the text, which stays
  t.word.assign(1, 0);
  t.log_prob.assign(1, 0);
  t.backoff.assign(1, 0);
  t.first_child.assign(1, 1);
  std::size_t level = 0, done = 1;  // the first node of the level above, and the nodes there are
  const auto child = [&](std::uint32_t node, std::uint32_t word) -> std::optional<std::uint32_t> {
    const auto from = t.word.begin() + t.first_child[node], to = t.word.begin() + t.first_child[node + 1];
    const auto at = std::lower_bound(from, to, word);
    if (at == to || *at != word) return std::nullopt;
    return static_cast<std::uint32_t>(at - t.word.begin());
  };
  std::vector<entry> entries;
  for (std::size_t order = 1; order <= counts.size(); ++order) {
    const std::string title = "\\" + std::to_string(order) + "-grams:";
    if (in.line() != title) in.refuse("n-grams", title, in.line());
    entries.clear();
    while (in.next() && !in.line().starts_with('\\')) {
      const std::string_view whole = in.line();
      entry e{.parent = 0, .word = 0, .log_prob = log_prob(in), .backoff = 0};
      for (std::size_t k = 1; k <= order; ++k) {
        const std::string_view w = in.word();
        if (w.empty() || w.size() > longest_word)
          in.refuse("n-gram", std::to_string(order) + " words of up to " + std::to_string(longest_word) + " bytes",
                    whole);
        if (order == 1) {
          e.word = static_cast<std::uint32_t>(t.words.size());
          if (!words.emplace(w, e.word).second) in.refuse("word", "each once", w);
          t.words.emplace_back(w);
          break;
        }
        const auto known = words.find(w);
        if (known == words.end()) in.refuse("word of an n-gram", "one that is among the 1-grams", w);
        e.word = known->second;
        if (k == order) break;
        const auto context = child(e.parent, e.word);
        if (!context) in.refuse("n-gram", "its context among the shorter ones", whole);
        e.parent = *context;
      }
      e.backoff = backoff(in);
      entries.push_back(e);
      if (entries.size() > counts[order - 1])
        in.refuse("n-grams", "as many as the head has", std::to_string(entries.size()));
    }
    if (entries.size() != counts[order - 1])
      in.refuse(title, std::to_string(counts[order - 1]) + " n-grams", std::to_string(entries.size()));
    std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
      return a.parent != b.parent ? a.parent < b.parent : a.word < b.word;
    });
    // The children of the level above, in its order.
    std::size_t at = 0;
    for (std::size_t node = level; node < done; ++node) {
      for (; at < entries.size() && entries[at].parent == node; ++at) {
        if (at > 0 && entries[at - 1].parent == node && entries[at - 1].word == entries[at].word)
          in.refuse(title, "each n-gram once", t.words[entries[at].word]);
        t.word.push_back(entries[at].word);
        t.log_prob.push_back(entries[at].log_prob);
        t.backoff.push_back(entries[at].backoff);
      }
      t.first_child.push_back(static_cast<std::uint32_t>(t.word.size()));
    }
    level = done;
    done = t.word.size();
  }
  if (in.line() != "\\end\\") in.refuse("language model", "\\end\\", in.line());
  t.first_child.resize(t.word.size() + 1, static_cast<std::uint32_t>(t.word.size()));
  if (!words.contains("<unk>") && !words.contains("<UNK>"))
    notes.push_back("the language model has no <unk>: words that it does not know are as unlikely as its least likely");
  return t;
}

bool is_arpa(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  const weights::mapped_file file(path.string());
  const std::span<const std::byte> bytes = file.bytes();
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 4096));
  const std::size_t at = head.find("\\data\\");
  return at != std::string_view::npos && (at == 0 || head[at - 1] == '\n');
}

imported_model import_arpa(const std::filesystem::path& path, const import_options&) {
  const weights::mapped_file file(path.string());
  const std::span<const std::byte> bytes = file.bytes();
  imported_model model;
  model.where = path.string();
  const search::ngram checked(
      read_arpa({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(), model.notes));
  const search::ngram_tables& t = checked.tables();
  model.file.set("general.architecture", models::language_model::architecture);
  model.file.set("general.name", std::string_view("n-gram language model"));
  model.file.set("steno.version", std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                                      std::to_string(version.patch));
  model.file.set("ngram.order", static_cast<std::uint32_t>(checked.order()));
  model.file.set("ngram.words", t.words);
  model.file.set("ngram.nodes.word", t.word);
  model.file.set("ngram.nodes.log_prob", t.log_prob);
  model.file.set("ngram.nodes.backoff", t.backoff);
  model.file.set("ngram.nodes.first_child", t.first_child);
  return model;
}

void walk_ngram(const gguf_file& keys, tensor_taker&) { (void)models::language_model(keys); }

}  // namespace language_files
}  // namespace STENO_ABI
}  // namespace steno
