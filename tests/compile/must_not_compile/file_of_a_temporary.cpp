// A file looks at bytes that somebody else keeps: a temporary's would be gone.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace file_of_a_temporary {

steno::gguf_file f(std::vector<std::byte> bytes) {
#ifdef STENO_MUST_NOT_COMPILE
  return steno::gguf_file("made up", std::move(bytes));
#else
  return steno::gguf_file("made up", bytes);
#endif
}

}  // namespace file_of_a_temporary
