// am.mvn: any text is refused with steno::error, or gives two vectors of one length.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include "funasr/am_mvn.hpp"
#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const auto m = steno::funasr_files::parse_am_mvn({reinterpret_cast<const char*>(data), size}, "input");
    require(!m.shift.empty() && m.shift.size() == m.scale.size());
    for (const float v : m.shift) require(std::isfinite(v));
    for (const float v : m.scale) require(std::isfinite(v));
  });
  return 0;
}
