// tools/convert/yaml_settings.cpp - see yaml_settings.hpp.
#include "yaml_settings.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <system_error>

namespace steno::inline STENO_ABI {

namespace {

template <class T>
bool parse(std::string_view s, T& value) {
  const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), value);
  return failure == std::errc{} && end == s.data() + s.size();
}

// What the first levels hold. `left` bounds the work, because an alias may repeat a large map many times.
void flatten(const YAML::Node& node, const std::string& prefix, int depth, std::size_t& left, yaml_settings& out) {
  const auto count = [&] {
    if (left-- == 0) throw YAML::Exception(YAML::Mark::null_mark(), "it holds more settings than any config does");
  };
  for (const auto& item : node) {
    count();
    if (!item.first.IsScalar()) continue;
    const std::string key = prefix + item.first.Scalar();
    if (item.second.IsScalar()) out.settings[key] = item.second.Scalar();
    if (item.second.IsMap() && depth < 4) flatten(item.second, key + ".", depth + 1, left, out);
    if (!item.second.IsSequence() || item.second.size() == 0) continue;
    const bool nested = item.second[0].IsSequence();
    std::vector<std::string>& list = out.lists[key];
    list.clear();
    for (const auto& element : nested ? item.second[0] : item.second) {
      count();
      if (element.IsScalar()) list.push_back(element.Scalar());
    }
  }
}

// "${a.b}" stands for another setting, perhaps named from above the model ("${model.a.b}").
void resolve(yaml_settings& s) {
  for (int round = 0; round < 4; ++round)
    for (auto& [key, value] : s.settings) {
      if (!value.starts_with("${") || !value.ends_with("}")) continue;
      std::string name = value.substr(2, value.size() - 3);
      if (name.starts_with("model.") && !s.settings.contains(name)) name.erase(0, 6);
      const auto found = s.settings.find(name);
      if (found != s.settings.end() && name != key) value = std::string(found->second);
    }
}

}  // namespace

yaml_settings read_yaml(const std::string& source, const std::string& text, std::string_view what) {
  yaml_settings s;
  s.source = source;
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) fail({.where = source, .what = "not " + std::string(what) + ": it holds no settings"});
    std::size_t most_settings = 200000;
    flatten(root, "", 1, most_settings, s);
    resolve(s);
  } catch (const YAML::Exception& e) {
    fail({.where = source, .what = std::string("not readable as YAML: ") + e.what()});
  }
  return s;
}

bool yaml_settings::has(const std::string& key) const {
  const auto found = settings.find(key);
  return (found != settings.end() && found->second != "null") || lists.contains(key);
}

std::uint32_t yaml_settings::number(const std::string& key, std::uint32_t otherwise, std::uint32_t least,
                                    std::uint32_t most) const {
  const auto found = settings.find(key);
  if (found == settings.end() || found->second == "null") return otherwise;
  std::uint32_t value = 0;
  if (!parse(found->second, value) || value < least || value > most)
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(least) + " to " + std::to_string(most),
          .found = steno::quoted(found->second)});
  return value;
}

std::string yaml_settings::text(const std::string& key, const std::string& otherwise) const {
  const auto found = settings.find(key);
  return found == settings.end() || found->second == "null" ? otherwise : found->second;
}

bool yaml_settings::flag(const std::string& key, bool otherwise) const {
  const std::string v = text(key, otherwise ? "true" : "false");
  if (v == "true" || v == "True") return true;
  if (v == "false" || v == "False") return false;
  fail({.where = source, .what = key, .expected = "true or false", .found = steno::quoted(v)});
}

void yaml_settings::require(const std::string& key, const std::string& value) const {
  const std::string found = text(key, value);
  if (found != value && !(value == "true" && found == "True") && !(value == "false" && found == "False"))
    fail({.where = source, .what = key + " is not supported", .expected = value, .found = steno::quoted(found)});
}

double yaml_settings::real(const std::string& key, double otherwise, double least, double most) const {
  const auto found = settings.find(key);
  if (found == settings.end() || found->second == "null") return otherwise;
  double value = 0;
  if (!parse(found->second, value) || !(value >= least && value <= most))
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(least) + " to " + std::to_string(most),
          .found = steno::quoted(found->second)});
  return value;
}

std::vector<int> yaml_settings::numbers(const std::string& key, std::vector<int> otherwise, int least, int most) const {
  const auto found = lists.find(key);
  if (found == lists.end()) return otherwise;
  std::vector<int> all;
  for (const std::string& text : found->second) {
    int value = 0;
    if (!parse(text, value) || value < least || value > most)
      fail({.where = source,
            .what = key,
            .expected = "whole numbers from " + std::to_string(least) + " to " + std::to_string(most),
            .found = steno::quoted(text)});
    all.push_back(value);
  }
  return all;
}

}  // namespace steno::inline STENO_ABI
