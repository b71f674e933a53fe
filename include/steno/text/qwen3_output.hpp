// steno/text/qwen3_output.hpp - what Qwen3-ASR wrote, as language and text, with repetitions taken out.
//
//   "language English<asr_text>Hello." -> ("English", "Hello.");  "language None<asr_text>" -> ("", "")
//
// Follows `parse_asr_output`, `detect_and_fix_repetitions`, `normalize_language_name` and `merge_languages`
// (qwen_asr/inference/utils.py), character by character as Python counts them. Tested in
// tests/text/qwen3_output_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace text {

namespace detail {

/// UTF-8 cut into characters; bytes that are not UTF-8 are one each.
STENO_ON_CALL inline std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    std::size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    n = std::min(n, text.size());
    for (std::size_t i = 1; i < n; ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) n = i;
    all.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return all;
}

/// Python's white space of str.strip().
STENO_ON_CALL inline bool is_python_space(std::string_view c) {
  if (c.size() == 1) return (c[0] >= 9 && c[0] <= 13) || (c[0] >= 0x1c && c[0] <= 0x20);
  for (const std::string_view s : {"\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                   "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"})
    if (c == s) return true;
  return c.size() == 3 && c.starts_with("\xe2\x80") && static_cast<unsigned char>(c[2]) >= 0x80 &&
         static_cast<unsigned char>(c[2]) <= 0x8a;
}
STENO_ON_CALL inline std::string_view python_strip(std::string_view s) {
  const auto all = characters_of(s);
  std::size_t first = 0, last = all.size();
  while (first < last && is_python_space(all[first])) ++first;
  while (last > first && is_python_space(all[last - 1])) --last;
  if (first == last) return {};
  return {all[first].data(), static_cast<std::size_t>(all[last - 1].data() + all[last - 1].size() - all[first].data())};
}

STENO_ON_CALL inline std::string ascii_lower(std::string_view s) {
  std::string lower(s);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace detail

/// A character that stands more than `threshold` times in a row becomes one; then a pattern of up to 20 characters that
/// stands at least `threshold` times in a row becomes one.
STENO_ON_CALL STENO_COLD inline std::string fix_repetitions(std::string_view text, std::size_t threshold = 20) {
  constexpr std::size_t longest = 20;
  std::vector<std::string_view> s;
  const auto all = detail::characters_of(text);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end] == all[i]) ++end;
    const std::size_t kept = end - i > threshold ? 1 : end - i;
    s.insert(s.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
             all.begin() + static_cast<std::ptrdiff_t>(i + kept));
    i = end;
  }
  std::string made;
  const std::size_t n = s.size(), least = 2 * threshold;
  std::size_t i = 0, done = 0;  // `done`: where the original begins anew, behind a pattern
  // Whether s[i ..] is `count` patterns of k characters: every character equals the one k before it.
  const auto repeats = [&](std::size_t at, std::size_t k, std::size_t count) {
    if (at + k * count > n) return false;
    for (std::size_t j = at + k; j < at + k * count; ++j)
      if (s[j] != s[j - k]) return false;
    return true;
  };
  while (n - done >= least && i + least <= n) {
    std::size_t found = 0;
    for (std::size_t k = 1; k <= longest && i + k * threshold <= n && found == 0; ++k)
      if (repeats(i, k, threshold)) found = k;
    if (found == 0) {
      made += s[i++];
      continue;
    }
    for (std::size_t j = i; j < i + found; ++j) made += s[j];
    std::size_t end = i + found * threshold;
    while (end + found <= n &&
           std::equal(s.begin() + static_cast<std::ptrdiff_t>(i), s.begin() + static_cast<std::ptrdiff_t>(i + found),
                      s.begin() + static_cast<std::ptrdiff_t>(end)))
      end += found;
    i = done = end;
  }
  for (; i < n; ++i) made += s[i];
  return made;
}

/// "cHINese" -> "Chinese"; empty for white space.
STENO_ON_CALL STENO_COLD inline std::string normal_language(std::string_view name) {
  const auto all = detail::characters_of(detail::python_strip(name));
  std::string made;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string c(all[i]);
    // Latin letters with marks (U+00C0 to U+00DE) besides ASCII; no language that the models know has others.
    const bool latin =
        c.size() == 2 && c[0] == '\xc3' && c != "\xc3\x97" && c != "\xc3\xb7" && c != "\xc3\x9f" && c != "\xc3\xbf";
    char& last = c.back();
    if (c.size() == 1 && i == 0 && last >= 'a' && last <= 'z') last = static_cast<char>(last - 'a' + 'A');
    if (c.size() == 1 && i > 0 && last >= 'A' && last <= 'Z') last = static_cast<char>(last - 'A' + 'a');
    if (latin && i == 0) last = static_cast<char>(static_cast<unsigned char>(last) & ~0x20u);
    if (latin && i > 0) last = static_cast<char>(static_cast<unsigned char>(last) | 0x20u);
    made += c;
  }
  return made;
}

/// What parse_qwen3_output() finds.
struct qwen3_output {
  std::string language;  ///< "Chinese", ...; empty: none was named
  std::string text;      ///< without white space at its ends
};

/// Language and text of what the model wrote; with a forced language all of it is text. `repair`: repetitions are taken
/// out, as the original does.
STENO_ON_CALL STENO_COLD inline qwen3_output parse_qwen3_output(std::string_view raw,
                                                                std::string_view forced_language = {},
                                                                bool repair = true) {
  constexpr std::string_view tag = "<asr_text>", begin = "language ";
  const std::string_view stripped = detail::python_strip(raw);
  if (stripped.empty()) return {};
  const std::string s = repair ? fix_repetitions(stripped) : std::string(stripped);
  if (!forced_language.empty()) return {std::string(forced_language), s};
  const std::size_t at = s.find(tag);
  if (at == std::string::npos) return {"", std::string(detail::python_strip(s))};
  const std::string_view meta(s.data(), at);
  const std::string text(detail::python_strip(std::string_view(s).substr(at + tag.size())));
  if (detail::ascii_lower(meta).find("language none") != std::string::npos) return {"", text};
  const auto all = detail::characters_of(meta);
  const auto ends_line = [](std::string_view c) {
    return (c.size() == 1 && ((c[0] >= 10 && c[0] <= 13) || (c[0] >= 0x1c && c[0] <= 0x1e))) || c == "\xc2\x85" ||
           c == "\xe2\x80\xa8" || c == "\xe2\x80\xa9";
  };
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    std::string line;
    while (end < all.size() && !ends_line(all[end])) line += all[end++];
    i = end + 1;
    const std::string_view words = detail::python_strip(line);
    if (!detail::ascii_lower(words).starts_with(begin)) continue;
    return {normal_language(words.substr(begin.size())), text};
  }
  return {"", text};
}

/// Languages of the parts of a recording: in order, neighbours that are equal once, with commas.
STENO_ON_CALL STENO_COLD inline std::string merge_languages(const std::vector<std::string>& languages) {
  std::string merged;
  std::string_view last;
  for (const std::string& l : languages) {
    const std::string_view name = detail::python_strip(l);
    if (name.empty() || name == last) continue;
    merged.append(merged.empty() ? "" : ",").append(name);
    last = name;
  }
  return merged;
}

}  // namespace text
}  // namespace STENO_ABI
}  // namespace steno
