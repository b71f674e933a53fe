// Whether an emulator runs the tests (tools/check-on aarch64): a hundred times slower, so that the largest cases are
// smaller or left out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>

namespace steno::test {

inline bool emulated() { return std::getenv("STENO_EMULATED") != nullptr; }

}  // namespace steno::test
