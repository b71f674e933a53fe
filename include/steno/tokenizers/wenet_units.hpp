// steno/tokenizers/wenet_units.hpp - WeNet's units to and from text.
//
// A unit is a character, a piece with U+2581 for the blank before a word, or a symbol such as <unk>. Three readings:
//   raw()       as `tokens2text`: the units joined (char_tokenizer.py); of pieces, U+2581 is a blank (bpe_tokenizer.py)
//   text()      the same with U+2581 as a blank, trimmed, without <unk>, <context> and </context>
//   sentence()  what the runtime's post-processor makes of it (post_processor.cc): text() in small letters
// split() takes a phrase apart as the runtime's context graph does (context_graph.cc): the longest units first, a latin
// word with U+2581 in front, or that unit by itself. Tested in tests/tokenizers/wenet_units_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// The units of a WeNet model: ids to text, and phrases to ids. Const members may be called from any number of threads.
class wenet_units {
 public:
  static constexpr std::string_view space = "\xe2\x96\x81";  ///< U+2581, which stands for a blank in pieces

  /// No units.
  wenet_units() = default;
  /// `pieces`: the units are those of a SentencePiece model.
  STENO_ON_CALL explicit wenet_units(std::vector<std::string> units, bool pieces = false)
      : units_(std::move(units)), pieces_(pieces) {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      numbers_.emplace(units_[i], static_cast<int>(i));
      longest_ = std::max(longest_, characters(units_[i]).size());
    }
  }

  /// Units of the vocabulary; ids are 0 to size() - 1.
  int size() const noexcept { return static_cast<int>(units_.size()); }
  /// The unit as stored; empty for an id that is none.
  std::string_view piece(int id) const noexcept {
    return id >= 0 && id < size() ? std::string_view(units_[static_cast<std::size_t>(id)]) : std::string_view{};
  }
  /// The id of exactly this unit, or nothing.
  std::optional<int> find(const std::string& unit) const {
    const auto found = numbers_.find(unit);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The units joined, as `tokens2text`; of pieces, U+2581 becomes a blank and the ends are trimmed.
  std::string raw(std::span<const int> ids) const {
    std::string s;
    for (const int id : ids) s += piece(id);
    if (!pieces_) return s;
    std::string spaced;
    for (std::string_view left = s; !left.empty();) {
      const bool blank = left.starts_with(space);
      spaced += blank ? ' ' : left.front();
      left.remove_prefix(blank ? space.size() : 1);
    }
    s.swap(spaced);
    const std::size_t from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
    return from == std::string::npos ? std::string{} : s.substr(from, to - from + 1);
  }
  /// Text for reading: U+2581 as a blank, never two in a row nor at the ends, without <unk>, <context> and </context>.
  std::string text(std::span<const int> ids) const {
    std::string s;
    for (const int id : ids) {
      std::string_view p = piece(id);
      if (p == "<unk>" || p == "<context>" || p == "</context>") continue;
      while (!p.empty()) {
        const bool blank = p.starts_with(space);
        if (!blank)
          s += p.front();
        else if (!s.empty() && s.back() != ' ')
          s += ' ';  // no blanks in front, none twice
        p.remove_prefix(blank ? space.size() : 1);
      }
    }
    if (!s.empty() && s.back() == ' ') s.pop_back();
    return s;
  }
  /// Letters beyond ASCII stay as they are.
  std::string sentence(std::span<const int> ids) const {
    std::string s = text(ids);
    for (char& ch : s)
      if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
    return s;
  }

  /// Units of a phrase, or nothing when a character is not among them.
  STENO_ON_CALL std::optional<std::vector<int>> split(std::string_view phrase) const {
    const std::vector<std::string_view> chars = characters(phrase);
    std::vector<int> units;
    bool beginning = true, known = true;  // of a word; everything is among the units
    for (std::size_t start = 0; start < chars.size();) {
      std::size_t end = std::min(chars.size(), start + longest_);
      for (; end > start; --end) {
        std::string unit = joined(chars, start, end);
        const bool marked = beginning && latin(unit);
        if (marked) unit.insert(0, space);
        if (const auto id = find(unit)) {
          units.push_back(*id);
          start = end;
          beginning = false;
          break;
        }
        if (end > start + 1) continue;
        if (marked && find(std::string(space))) {  // which the phrase itself does not hold
          units.push_back(*find(std::string(space)));
          beginning = false;
        } else {
          ++start;
          if (unit == " ")
            beginning = true;
          else
            known = false;
        }
        break;
      }
    }
    if (!known) return std::nullopt;
    return units;
  }

 private:
  STENO_ON_CALL static std::vector<std::string_view> characters(std::string_view s) {
    std::vector<std::string_view> chars;
    for (std::size_t at = 0; at < s.size();) {
      std::size_t n = 1;
      while (at + n < s.size() && (static_cast<unsigned char>(s[at + n]) & 0xc0u) == 0x80u) ++n;
      chars.push_back(s.substr(at, n));
      at += n;
    }
    return chars;
  }
  static std::string joined(const std::vector<std::string_view>& chars, std::size_t from, std::size_t to) {
    std::string s;
    for (std::size_t i = from; i < to; ++i) s += chars[i];
    return s;
  }
  static bool latin(std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  }

  std::vector<std::string> units_;
  std::unordered_map<std::string, int> numbers_;
  std::size_t longest_ = 1;
  bool pieces_ = false;
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
