// tools/convert/near_names.hpp - names that a mistaken pattern may have meant.
//
// The distance of a name from a pattern is the least number of letters to be inserted, removed or changed until the
// pattern matches; `*` stands for anything and costs nothing. Tested in tests/convert/number_formats_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

inline std::size_t pattern_distance(std::string_view pattern, std::string_view name) {
  std::vector<std::size_t> row(name.size() + 1);  // of the pattern's first letters, and each beginning of the name
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (const char p : pattern) {
    std::size_t corner = row[0];
    if (p != '*') ++row[0];
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = p == '*' ? std::min(above, row[j - 1])
                        : std::min({above + 1, row[j - 1] + 1, corner + (p == name[j - 1] ? 0 : 1)});
      corner = above;
    }
  }
  return row[name.size()];
}

/// Up to `most` of the names that are nearest to a pattern, the nearest first. Of names that differ in numbers alone
/// there is the first.
inline std::vector<std::string> near_names(std::string_view pattern, std::span<const std::string> names,
                                           std::size_t most) {
  struct candidate {
    std::size_t distance;
    const std::string* name;
    std::string kind;  // without its digits
  };
  std::vector<candidate> all;
  for (const std::string& n : names) {
    candidate c{pattern_distance(pattern, n), &n, {}};
    for (const char letter : n)
      if (std::isdigit(static_cast<unsigned char>(letter)) == 0) c.kind.push_back(letter);
    all.push_back(std::move(c));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const candidate& a, const candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> out, kinds;
  for (const candidate& c : all) {
    if (out.size() == most) break;
    if (std::find(kinds.begin(), kinds.end(), c.kind) != kinds.end()) continue;
    kinds.push_back(c.kind);
    out.push_back(*c.name);
  }
  return out;
}

}  // namespace STENO_ABI
}  // namespace steno
