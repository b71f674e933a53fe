// tests/support/threads.hpp - whether programs have more than one thread: in WebAssembly they have not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steno::test {

#if defined(__EMSCRIPTEN__)
inline constexpr bool has_threads = false;
#else
inline constexpr bool has_threads = true;
#endif

/// `width` threads, where they are to be had.
inline constexpr int threads(int width) { return has_threads ? width : 1; }

}  // namespace steno::test
