// am.mvn: any text is refused with steno::error, or gives two vectors of one length.
#include <steno/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "funasr/am_mvn.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto m = steno::funasr::parse_am_mvn({reinterpret_cast<const char*>(data), size}, "input");
    require(!m.shift.empty() && m.shift.size() == m.scale.size());
    for (const float v : m.shift) require(std::isfinite(v));
    for (const float v : m.scale) require(std::isfinite(v));
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
