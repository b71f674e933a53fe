// units.txt: any text is refused with steno::error, or gives a unit for every number.
#include <steno/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wenet/folder.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto units = steno::wenet::parse_units(text, "input");
    require(!units.empty());
    for (const auto& u : units) require(!u.empty());
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
