// What a call that may throw says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <string>

namespace steno::test {

/// The text of the steno::error that `f()` throws; empty when it throws none.
std::string refusal(auto&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace steno::test
