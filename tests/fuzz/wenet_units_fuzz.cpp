// units.txt: any text is refused with steno::error, or gives a unit for every number.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "wenet/folder.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_or_refuse([&] {
    const auto units = steno::wenet_files::parse_units(text, "input");
    require(!units.empty());
    for (const auto& u : units) require(!u.empty());
  });
  return 0;
}
