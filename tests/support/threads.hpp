// tests/support/threads.hpp - whether programs have more than one thread: in WebAssembly they have not.
#pragma once

namespace steno::test {

#if defined(__EMSCRIPTEN__)
inline constexpr bool has_threads = false;
#else
inline constexpr bool has_threads = true;
#endif

}  // namespace steno::test
