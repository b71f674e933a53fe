// tools/convert/glob.hpp - names by a pattern: `*` stands for any characters, none too.
//
// Tested in tests/convert/checkpoint_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <string_view>

namespace steno {
inline namespace STENO_ABI {

/// Whether `pattern` describes the whole of `name`. At most name x pattern steps.
inline bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = pattern.npos, resumed = 0;  // the last `*`, and where in the name to go on if what follows fails
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
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
