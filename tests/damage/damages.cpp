// Names of damages, and all of a model together.
// SPDX-License-Identifier: Apache-2.0
#include "damage/damages.hpp"

#include <cctype>

namespace steno::damage {

std::string without_numbers(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = name.find('.', i);
    if (end == std::string_view::npos) end = name.size();
    const std::string_view part = name.substr(i, end - i);
    bool number = !part.empty();
    for (const char c : part) number = number && std::isdigit(static_cast<unsigned char>(c)) != 0;
    out += number ? std::string("#") : std::string(part);
    if (end < name.size()) out += '.';
    i = end + 1;
  }
  return out;
}

std::string one_damage::kind() const {
  return name.substr(0, name.size() - subject.size() - value.size() - 1) + without_numbers(subject) + "/" + value;
}

std::vector<one_damage> damages_of(const std::string& model, const gguf_parts& parts, bool every_layer) {
  std::vector<one_damage> all = special_damages(model, parts);
  for (auto* more : {&key_damages, &header_damages})
    for (one_damage& d : (*more)(model, parts)) all.push_back(std::move(d));
  for (one_damage& d : tensor_damages(model, parts, every_layer)) all.push_back(std::move(d));
  return all;
}

}  // namespace steno::damage
