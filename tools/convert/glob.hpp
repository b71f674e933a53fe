// tools/convert/glob.hpp - names by a pattern, as shells and fnmatch have them, on every system.
//
// Tested in tests/convert/checkpoint_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <string_view>

namespace steno {
inline namespace STENO_ABI {

namespace detail {

/// Whether the set behind the `[` at `p` has `c`; `p` gets the place behind its `]`. A `[` that nothing closes is one.
inline bool matches_set(std::string_view pattern, std::size_t& p, char c) {
  const bool without = p + 1 < pattern.size() && (pattern[p + 1] == '!' || pattern[p + 1] == '^');
  const std::size_t first = p + (without ? 2 : 1);
  const std::size_t end = first < pattern.size() ? pattern.find(']', first + 1) : pattern.npos;  // `[]a]` has a `]`
  if (end == pattern.npos) return pattern[p++] == c;
  bool found = false;
  for (std::size_t i = first; i < end; ++i) {
    const bool range = i + 2 < end && pattern[i + 1] == '-';
    const auto at = [&](std::size_t k) { return static_cast<unsigned char>(pattern[k]); };
    const auto byte = static_cast<unsigned char>(c);
    found = found || (at(i) <= byte && byte <= at(range ? i + 2 : i));
    if (range) i += 2;
  }
  p = end + 1;
  return found != without;
}

/// Whether what stands at `p`, no `*`, describes `c`; `p` gets the place behind it.
inline bool matches_one(std::string_view pattern, std::size_t& p, char c) {
  if (pattern[p] == '[') return matches_set(pattern, p, c);
  const char wanted = pattern[p++];
  return wanted == '?' || wanted == c;
}

}  // namespace detail

/// Whether `pattern` describes the whole of `name`: `*` stands for any bytes, none too, `?` for one, `[a-c_]` for one
/// of these, `[!a-c_]` for one of the others. At most name x pattern steps.
inline bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = pattern.npos, resumed = 0;  // the last `*`, and where in the name to go on if what follows fails
  while (n < name.size()) {
    std::size_t behind = p;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = n;
    } else if (p < pattern.size() && detail::matches_one(pattern, behind, name[n])) {
      p = behind;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace STENO_ABI
}  // namespace steno
