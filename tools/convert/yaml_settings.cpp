// tools/convert/yaml_settings.cpp - see yaml_settings.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "yaml_settings.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <yaml-cpp/yaml.h>

#include "limits.hpp"
#include "yaml_bounds.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

// What every level holds; the maps of a list stand under their numbers. check_yaml_bounds() has bounded the nodes and
// their text, aliases and all; `bytes` bounds the paths, which repeat a long key before everything below it.
constexpr int levels = 16;  // below, a map is one of the others
void flatten(const YAML::Node& node, const std::string& prefix, int depth, std::size_t& bytes,
             checkpoint_settings& out) {
  for (const auto& item : node) {
    if (!item.first.IsScalar() && !item.first.IsNull()) {
      out.others.insert(prefix + "a list or a map as a key");
      continue;
    }
    const std::string name = item.first.IsNull() ? "null" : item.first.Scalar();
    const std::string key = prefix + name;
    if (!prefix.empty()) out.maps[prefix.substr(0, prefix.size() - 1)].push_back(name);
    bytes += key.size();
    if (bytes > limits::yaml_expanded) throw YAML::Exception(item.first.Mark(), "its keys are too long");
    if (item.second.IsScalar()) out.settings[key] = item.second.Scalar();
    if (item.second.IsNull()) out.settings[key] = "null";
    if (item.second.IsMap() && item.second.size() > 0 && depth < levels)
      flatten(item.second, key + ".", depth + 1, bytes, out);
    else if (item.second.IsMap() || (item.second.IsSequence() && item.second.size() == 0))
      out.others.insert(key);
    if (!item.second.IsSequence() || item.second.size() == 0) continue;
    const bool nested = item.second[0].IsSequence();
    std::vector<std::string>& list = out.lists[key];
    list.clear();
    std::size_t index = 0;
    for (const auto& element : nested ? item.second[0] : item.second) {
      if (element.IsScalar()) list.push_back(element.Scalar());
      if (element.IsMap() && depth < levels)
        flatten(element, key + "." + std::to_string(index) + ".", depth + 1, bytes, out);
      ++index;
    }
    if (!nested) continue;
    std::vector<std::vector<std::string>>& table = out.tables[key];
    table.clear();
    for (const auto& row : item.second) {
      if (!row.IsSequence()) continue;
      table.emplace_back();
      for (const auto& element : row)
        if (element.IsScalar()) table.back().push_back(element.Scalar());
    }
  }
}

// "${a.b}" stands for another setting, perhaps named from above the model ("${model.a.b}").
void resolve(checkpoint_settings& s) {
  std::size_t expanded = 0;  // bytes
  for (int round = 0; round < 4; ++round)
    for (auto& [key, value] : s.settings) {
      if (!value.starts_with("${") || !value.ends_with("}")) continue;
      std::string name = value.substr(2, value.size() - 3);
      if (name.starts_with("model.") && !s.settings.contains(name)) name.erase(0, 6);
      const auto found = s.settings.find(name);
      if (found == s.settings.end() || name == key) continue;
      expanded += found->second.size();
      if (expanded > limits::yaml_expanded)
        fail({.where = s.source, .what = "what ${...} stands for is longer than any config's"});
      value = std::string(found->second);
    }
}

// A message of yaml-cpp may repeat what the file holds.
std::string reason(const YAML::Exception& e) {
  const std::string line = e.mark.is_null() ? "" : "line " + std::to_string(e.mark.line + 1) + ": ";
  return line + steno::weights::quoted(e.msg);
}

}  // namespace

checkpoint_settings read_yaml(const std::string& source, const std::string& text, std::string_view what) {
  checkpoint_settings s;
  s.source = source;
  if (text.size() > limits::yaml_bytes)
    fail({.where = source,
          .what = "too large for a settings file",
          .expected = "up to " + std::to_string(limits::yaml_bytes) + " bytes",
          .found = std::to_string(text.size())});
  try {
    check_yaml_bounds(text);
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) fail({.where = source, .what = "not " + std::string(what) + ": it holds no settings"});
    std::size_t bytes = 0;
    flatten(root, "", 1, bytes, s);
  } catch (const YAML::Exception& e) {
    fail({.where = source, .what = "not readable as YAML: " + reason(e)});
  }
  resolve(s);
  return s;
}

}  // namespace STENO_ABI
}  // namespace steno
