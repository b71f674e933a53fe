// tools/convert/json_settings.cpp - see json_settings.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "json_settings.hpp"

#include <steno/error.hpp>

#include <nlohmann/json.hpp>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

using nlohmann::json;

// A number as the file has it, a string as it is, "true", "false" and "null".
std::string scalar(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// parse_json() has bounded the values; `bytes` bounds the paths, which repeat a long key before everything below it.
void flatten(const json& object, const std::string& prefix, std::size_t& bytes, checkpoint_settings& out) {
  for (const auto& [name, value] : object.items()) {
    const std::string key = prefix + name;
    if (!prefix.empty()) out.maps[prefix.substr(0, prefix.size() - 1)].push_back(name);
    bytes += key.size();
    if (bytes > limits::yaml_expanded) fail({.where = out.source, .what = "its keys are too long"});
    if (value.is_object() && !value.empty()) {
      flatten(value, key + ".", bytes, out);
    } else if (value.is_array() && !value.empty()) {
      std::vector<std::string>& list = out.lists[key];
      for (const json& element : value.front().is_array() ? value.front() : value)
        if (element.is_primitive()) list.push_back(scalar(element));
      for (const json& row : value) {
        if (!row.is_array()) continue;
        auto& entries = out.tables[key];
        entries.emplace_back();
        for (const json& element : row)
          if (element.is_primitive()) entries.back().push_back(scalar(element));
      }
    } else if (value.is_structured()) {
      out.others.insert(key);
    } else {
      out.settings[key] = scalar(value);
    }
  }
}

}  // namespace

checkpoint_settings json_settings(const std::string& source, const json& object) {
  checkpoint_settings s;
  s.source = source;
  std::size_t bytes = 0;
  flatten(object, "", bytes, s);
  return s;
}

}  // namespace STENO_ABI
}  // namespace steno
