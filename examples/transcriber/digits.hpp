// Numbers with leading zeros.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace steno::app {

/// padded(7, 2) == "07"; `value` is not negative.
inline std::string padded(long long value, std::size_t digits) {
  std::string text = std::to_string(value);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

}  // namespace steno::app
