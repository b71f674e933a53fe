// YAML settings: any text is refused with steno::error, or gives settings within the limits that every look-up can ask.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "fuzz.hpp"
#include "limits.hpp"
#include "yaml_settings.hpp"

using namespace steno_fuzz;

namespace {
// Readers ask for names of their own, which stand in messages as they are.
bool is_name(const std::string& key) {
  return std::none_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const steno::checkpoint_settings y = steno::read_yaml("input", std::string(text_of(data, size)), "a config");
    std::size_t bytes = 0, values = 0;
    for (const auto& [key, value] : y.settings) {
      bytes += key.size() + value.size();
      ++values;
      require(y.has(key) || value == "null");
      if (values > 64 || !is_name(key)) continue;  // look-ups of all of a bomb's settings find nothing more
      read_or_refuse([&, &k = key] { (void)y.number(k, 1, 1, 100); });
      read_or_refuse([&, &k = key] { (void)y.real(k, 1, 0, 100); });
      read_or_refuse([&, &k = key] { (void)y.flag(k, true); });
      read_or_refuse([&, &k = key] { y.require(k, "true"); });
    }
    for (const auto& [key, list] : y.lists) {
      bytes += key.size();
      values += list.size();
      for (const std::string& item : list) bytes += item.size();
      if (is_name(key)) read_or_refuse([&, &k = key] { (void)y.numbers(k, {}, -1, 1000); });
    }
    // Text, paths, and what references stand for.
    require(values <= 2 * steno::limits::yaml_values && bytes <= 4 * steno::limits::yaml_expanded);
  });
  return 0;
}
