// Whether an emulator runs the tests (tools/check-on aarch64): a hundred times slower, so that the largest cases are
// smaller or left out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace steno::test {

inline bool emulated() { return std::getenv("STENO_EMULATED") != nullptr; }

/// What a test goes through; on an emulator the first `few` alone.
template <class T>
std::vector<T> first_on_emulators(std::size_t few, std::vector<T> all) {
  if (emulated() && all.size() > few) all.resize(few);
  return all;
}

}  // namespace steno::test
