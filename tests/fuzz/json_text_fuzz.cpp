// JSON: any text is refused with steno::error, or gives a value that can be copied, compared and written.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "fuzz.hpp"
#include "json_text.hpp"
#include "limits.hpp"

using namespace steno_fuzz;

namespace {
std::size_t depth_of(const nlohmann::json& j) {
  std::size_t deepest = 0;
  for (const auto& inside : j) deepest = std::max(deepest, inside.is_structured() ? depth_of(inside) : 0);
  return deepest + 1;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const nlohmann::json j = steno::parse_json(text_of(data, size), "input");
    const nlohmann::json copy = j;
    require(copy == j);
    require(!j.is_structured() || depth_of(j) <= steno::limits::depth);
    const nlohmann::json again = steno::parse_json(j.dump(), "again");
    require(again.type() == j.type() || (again.is_number() && j.is_number()));  // -0 becomes 0, which has no sign
  });
  return 0;
}
