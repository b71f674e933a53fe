// SPDX-License-Identifier: Apache-2.0
#include "written_words.hpp"

#include <steno/text/words_in_text.hpp>
#include <steno/tokenizers/scripts.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace steno::app {

namespace {
namespace unicode = tokenizers::unicode;

constexpr std::size_t no_atom = static_cast<std::size_t>(-1);
constexpr std::ptrdiff_t most_differences = 1000;  // the search keeps 8 bytes for each two of their square

// What is compared: what stands between white space, but each character of a script that is written without.
struct atom {
  std::string_view text;
  std::size_t word = 0;    // of the spoken words
  bool apart = false;      // white space stands before it
  std::size_t length = 0;  // characters
};

void add_atoms(std::string_view text, std::size_t word, std::vector<atom>& out) {
  bool open = false, apart = false;
  for (std::size_t at = 0; at < text.size();) {
    const unicode::code_point c = unicode::first_of(text.substr(at));
    if (unicode::is_space(c.value)) {
      open = false;
      apart = true;
    } else {
      const bool alone = tokenizers::is_written_without_spaces(c.value);
      // Marks belong to what stands before them.
      if (open && (!alone || out.empty())) {
        atom& last = out.back();
        last.text = {last.text.data(), last.text.size() + c.length};
        ++last.length;
      } else {
        out.push_back({text.substr(at, c.length), word, apart, 1});
      }
      open = !alone;
      if (alone && at + c.length < text.size())
        open = tokenizers::is_wide_punctuation(unicode::first_of(text.substr(at + c.length)).value);
      apart = false;
    }
    at += c.length;
  }
}

// For each of b, its partner in a of a longest common subsequence, or no_atom (E. Myers, An O(ND) difference algorithm,
// 1986). Nothing where too much differs.
std::optional<std::vector<std::size_t>> partners(std::span<const atom> a, std::span<const atom> b) {
  const auto n = static_cast<std::ptrdiff_t>(a.size()), m = static_cast<std::ptrdiff_t>(b.size());
  const std::ptrdiff_t most = std::min(n + m, most_differences);
  std::vector<std::vector<std::ptrdiff_t>> furthest;  // by differences; [k + d]: x on the diagonal k
  std::vector<std::ptrdiff_t> now(1, 0);
  const auto slide = [&](std::ptrdiff_t x, std::ptrdiff_t k) {
    while (x < n && x - k < m && a[static_cast<std::size_t>(x)].text == b[static_cast<std::size_t>(x - k)].text) ++x;
    return x;
  };
  now[0] = slide(0, 0);
  std::ptrdiff_t d = 0;
  const auto at = [](const std::vector<std::ptrdiff_t>& v, std::ptrdiff_t i) { return v[static_cast<std::size_t>(i)]; };
  const auto done = [&] { return std::abs(n - m) <= d && at(now, n - m + d) >= n; };
  for (; !done(); ++d) {
    if (d >= most) return std::nullopt;
    std::vector<std::ptrdiff_t> next(static_cast<std::size_t>(2 * (d + 1) + 1), -1);
    for (std::ptrdiff_t k = -(d + 1); k <= d + 1; ++k) {
      if ((k + d + 1) % 2 != 0) continue;
      const std::ptrdiff_t down = k + 1 <= d ? at(now, k + 1 + d) : -1;        // one of b is new
      const std::ptrdiff_t right = k - 1 >= -d ? at(now, k - 1 + d) + 1 : -1;  // one of a is gone
      const std::ptrdiff_t x = std::max(down, right);
      next[static_cast<std::size_t>(k + d + 1)] = x > n || x - k > m || x < 0 || x - k < 0 ? -1 : slide(x, k);
    }
    furthest.push_back(std::move(now));
    now = std::move(next);
  }
  std::vector<std::size_t> of(b.size(), no_atom);
  for (std::ptrdiff_t x = n, k = n - m; d >= 0; --d) {
    std::ptrdiff_t from = 0, k_before = 0;
    if (d > 0) {
      const std::vector<std::ptrdiff_t>& before = furthest[static_cast<std::size_t>(d - 1)];
      const std::ptrdiff_t down = k + 1 <= d - 1 ? at(before, k + 1 + d - 1) : -1;
      const std::ptrdiff_t right = k - 1 >= -(d - 1) ? at(before, k - 1 + d - 1) + 1 : -1;
      from = std::max(down, right);
      k_before = right >= down ? k - 1 : k + 1;
    }
    for (; x > from; --x) of[static_cast<std::size_t>(x - 1 - k)] = static_cast<std::size_t>(x - 1);
    if (d > 0) x = k_before == k - 1 ? from - 1 : from;
    k = k_before;
  }
  return of;
}

// Without the marks around it; as it is where it has nothing else.
std::string_view without_marks(std::string_view text) {
  constexpr std::string_view before = "([{\"'", behind = ".,!?;:)]}\"'";
  const std::string_view whole = text;
  // "p.m." is an abbreviation, "3.5." a number at a sentence's end.
  const auto abbreviates = [](std::string_view t) {
    return t.size() > 3 && t.find('.') < t.size() - 1 && t.back() == '.' &&
           unicode::is_letter(static_cast<unsigned char>(t[t.size() - 2]));
  };
  while (!text.empty() && before.find(text.front()) != text.npos) text.remove_prefix(1);
  while (!text.empty() && !abbreviates(text)) {
    if (behind.find(text.back()) != text.npos) {
      text.remove_suffix(1);
    } else if (text.size() > 3 &&
               tokenizers::is_wide_punctuation(unicode::first_of(text.substr(text.size() - 3)).value)) {
      text.remove_suffix(3);
    } else {
      break;
    }
  }
  return text.empty() ? whole : text;
}

// `atoms` instead of words[first, last).
void replace_words(std::span<const atom> atoms, std::span<const word> words, std::size_t first, std::size_t last,
                   std::vector<word>& out) {
  if (atoms.empty()) return;
  word like;
  if (first < last) {
    like = words[first];
    like.end = words[last - 1].end;
    for (std::size_t i = first; i < last; ++i) like.confidence = std::min(like.confidence, words[i].confidence);
  } else if (!words.empty()) {  // nobody said it: it takes no time
    like = words[first > 0 ? first - 1 : 0];
    like.start = like.end = first > 0 ? like.end : like.start;
  }
  std::size_t length = 0, done = 0;
  for (const atom& a : atoms) length += a.length;
  const bool spaces = std::any_of(words.begin(), words.end(), [](const word& w) { return !w.space.empty(); });
  const auto at = [&](std::size_t characters) {
    return like.start + (like.end - like.start) * static_cast<double>(characters) / static_cast<double>(length);
  };
  for (const atom& a : atoms) {
    word w = like;
    w.text = without_marks(a.text);
    w.space = spaces && a.apart ? " " : "";
    w.start = at(done);
    done += a.length;
    w.end = at(done);
    out.push_back(std::move(w));
  }
}

}  // namespace

std::vector<word> words_as_written(std::string_view spoken, std::span<const word> words, std::string_view written) {
  std::vector<word> out(words.begin(), words.end());
  if (spoken == written || words.empty()) return out;
  const std::vector<text::word_place> places = text::words_in_text(spoken, words);
  if (places.size() != words.size()) return out;
  std::vector<atom> before, after;
  std::vector<std::size_t> first(words.size() + 1);  // atom of each word
  for (std::size_t i = 0; i < words.size(); ++i) {
    first[i] = before.size();
    const std::size_t end = i + 1 < words.size() ? places[i + 1].cut : spoken.size();
    add_atoms(spoken.substr(places[i].cut, end - places[i].cut), i, before);
  }
  first[words.size()] = before.size();
  add_atoms(written, 0, after);
  const std::optional<std::vector<std::size_t>> of = partners(before, after);
  if (!of) return out;

  // A word stays when all its atoms do, side by side.
  const auto stays = [&](std::size_t j, std::size_t w) {
    const std::size_t count = first[w + 1] - first[w];
    if (count == 0 || j + count > after.size()) return false;
    for (std::size_t i = 0; i < count; ++i)
      if ((*of)[j + i] != first[w] + i) return false;
    return true;
  };
  out.clear();
  std::size_t from = 0, said = 0;  // of what is not written yet: atoms, words
  for (std::size_t j = 0; j < after.size();) {
    const std::size_t i = (*of)[j];
    if (i == no_atom || !stays(j, before[i].word)) {
      ++j;
      continue;
    }
    const std::size_t w = before[i].word;
    replace_words(std::span(after).subspan(from, j - from), words, said, w, out);
    out.push_back(words[w]);
    j += first[w + 1] - first[w];
    from = j;
    said = w + 1;
  }
  replace_words(std::span(after).subspan(from), words, said, words.size(), out);
  return out;
}

}  // namespace steno::app
