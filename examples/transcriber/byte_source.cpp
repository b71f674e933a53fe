// SPDX-License-Identifier: Apache-2.0
#include "byte_source.hpp"

namespace steno::app {

void byte_source::fill(std::vector<std::uint8_t>& bytes, std::size_t want) {
  std::size_t have = bytes.size();
  if (have >= want) return;
  bytes.resize(want);
  while (have < want) {
    const std::size_t n = read(bytes.data() + have, want - have);
    if (n == 0) break;
    have += n;
  }
  bytes.resize(have);
}

}  // namespace steno::app
