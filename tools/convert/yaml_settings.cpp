// tools/convert/yaml_settings.cpp - see yaml_settings.hpp.
#include "yaml_settings.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <system_error>

#include "limits.hpp"
#include "yaml_bounds.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

template <class T>
bool parse(std::string_view s, T& value) {
  const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), value);
  return failure == std::errc{} && end == s.data() + s.size();
}

// What the first levels hold. check_yaml_bounds() has bounded the nodes and their text, aliases and all; `bytes` bounds
// the paths, which repeat a long key before everything below it.
void flatten(const YAML::Node& node, const std::string& prefix, int depth, std::size_t& bytes, yaml_settings& out) {
  for (const auto& item : node) {
    if (!item.first.IsScalar()) continue;
    const std::string key = prefix + item.first.Scalar();
    if (!prefix.empty()) out.maps[prefix.substr(0, prefix.size() - 1)].push_back(item.first.Scalar());
    bytes += key.size();
    if (bytes > limits::yaml_expanded) throw YAML::Exception(item.first.Mark(), "its keys are too long");
    if (item.second.IsScalar()) out.settings[key] = item.second.Scalar();
    if (item.second.IsNull()) out.settings[key] = "null";
    if (item.second.IsMap() && item.second.size() > 0 && depth < 4)
      flatten(item.second, key + ".", depth + 1, bytes, out);
    else if (item.second.IsMap() || (item.second.IsSequence() && item.second.size() == 0))
      out.others.insert(key);
    if (!item.second.IsSequence() || item.second.size() == 0) continue;
    const bool nested = item.second[0].IsSequence();
    std::vector<std::string>& list = out.lists[key];
    list.clear();
    for (const auto& element : nested ? item.second[0] : item.second)
      if (element.IsScalar()) list.push_back(element.Scalar());
  }
}

// `*` stands for any characters, none too.
bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (matches(rest, text.substr(at))) return true;
  return false;
}

// "${a.b}" stands for another setting, perhaps named from above the model ("${model.a.b}").
void resolve(yaml_settings& s) {
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

yaml_settings read_yaml(const std::string& source, const std::string& text, std::string_view what) {
  yaml_settings s;
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

bool yaml_settings::is_null(const std::string& key) const {
  read_.insert(key);
  const auto found = settings.find(key);
  return found != settings.end() && found->second == "null";
}

void yaml_settings::check_all_read(std::span<const std::string_view> sections, std::span<const unused_setting> unused,
                                   std::vector<std::string>& notes) const {
  std::set<std::string_view> unknown;
  const auto look_at = [&](const std::string& key) {
    if (read_.contains(key)) return;
    for (const unused_setting& u : unused)
      if (matches(u.key, key)) return;
    unknown.insert(key);
  };
  for (const auto& [key, value] : settings) look_at(key);
  for (const auto& [key, value] : lists) look_at(key);
  for (const std::string& key : others) look_at(key);
  for (const std::string_view key : unknown)
    for (const std::string_view section : sections)
      if (key.starts_with(section)) {
        const auto found = settings.find(std::string(key));
        fail({.where = source,
              .what = steno::weights::quoted(std::string(key)) + " is a setting that steno does not know",
              .found = found == settings.end() ? "a list or a map" : steno::weights::quoted(found->second),
              .hint = "it may change what the model computes; take it out if you know that it does not"});
      }
  if (unknown.empty()) return;
  constexpr std::size_t shown = 8;
  std::string names;
  std::size_t count = 0;
  for (const std::string_view key : unknown)
    if (count++ < shown) names.append(names.empty() ? "" : ", ").append(steno::weights::quoted(std::string(key)));
  if (count > shown) names += " and " + std::to_string(count - shown) + " more";
  notes.push_back(source + ": not read, and not known: " + names);
}

bool yaml_settings::has(const std::string& key) const {
  read_.insert(key);
  const auto found = settings.find(key);
  return (found != settings.end() && found->second != "null") || lists.contains(key);
}

std::uint32_t yaml_settings::number(const std::string& key, std::uint32_t otherwise, std::uint32_t min,
                                    std::uint32_t max) const {
  read_.insert(key);
  const auto found = settings.find(key);
  if (found == settings.end() || found->second == "null") return otherwise;
  std::uint32_t value = 0;
  if (!parse(found->second, value) || value < min || value > max)
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
          .found = steno::weights::quoted(found->second)});
  return value;
}

std::string yaml_settings::text(const std::string& key, const std::string& otherwise) const {
  read_.insert(key);
  const auto found = settings.find(key);
  return found == settings.end() || found->second == "null" ? otherwise : found->second;
}

bool yaml_settings::flag(const std::string& key, bool otherwise) const {
  const std::string v = text(key, otherwise ? "true" : "false");
  if (v == "true" || v == "True") return true;
  if (v == "false" || v == "False") return false;
  fail({.where = source, .what = key, .expected = "true or false", .found = steno::weights::quoted(v)});
}

void yaml_settings::require(const std::string& key, const std::string& value) const {
  const std::string found = is_null(key) ? "null" : text(key, value);
  if (found != value && !(value == "true" && found == "True") && !(value == "false" && found == "False"))
    fail({.where = source,
          .what = key + " is not supported",
          .expected = value,
          .found = steno::weights::quoted(found)});
}

void yaml_settings::require(const std::string& key, double value) const {
  const std::string found = is_null(key) ? "null" : text(key, "");
  double number = 0;
  if (settings.contains(key) && !(parse(found, number) && number == value)) {
    char expected[32];
    const auto end = std::to_chars(std::begin(expected), std::end(expected), value).ptr;
    fail({.where = source,
          .what = key + " is not supported",
          .expected = std::string(expected, end),
          .found = steno::weights::quoted(found)});
  }
}

double yaml_settings::real(const std::string& key, double otherwise, double min, double max) const {
  read_.insert(key);
  const auto found = settings.find(key);
  if (found == settings.end() || found->second == "null") return otherwise;
  double value = 0;
  if (!parse(found->second, value) || !(value >= min && value <= max))
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
          .found = steno::weights::quoted(found->second)});
  return value;
}

std::vector<int> yaml_settings::numbers(const std::string& key, std::vector<int> otherwise, int min, int max) const {
  read_.insert(key);
  const auto found = lists.find(key);
  if (found == lists.end()) return otherwise;
  std::vector<int> all;
  for (const std::string& text : found->second) {
    int value = 0;
    if (!parse(text, value) || value < min || value > max)
      fail({.where = source,
            .what = key,
            .expected = "whole numbers from " + std::to_string(min) + " to " + std::to_string(max),
            .found = steno::weights::quoted(text)});
    all.push_back(value);
  }
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
