// tools/convert/checkpoint_settings.cpp - see checkpoint_settings.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_settings.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>

#include "glob.hpp"
#include "number_text.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

// Whether `word` is one of `words`, which are parted by spaces.
bool one_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

bool unused_setting::knows(std::string_view name) const {
  if (matches_glob(key, name)) return true;
  if (parts.empty() || !name.starts_with(key) || name.size() == key.size() || name[key.size()] != '.') return false;
  for (name.remove_prefix(key.size() + 1);;) {
    const std::size_t end = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, end);
    std::uint32_t number = 0;
    if (!is_number(part, number) && !one_of(parts, part)) return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

const std::string* checkpoint_settings::scalar(const std::string& key) const {
  read_.insert(key);
  if (lists.contains(key) || others.contains(key))
    fail({.where = source, .what = key, .expected = "one value", .found = "a list or a map"});
  const auto found = settings.find(key);
  return found == settings.end() ? nullptr : &found->second;
}

bool checkpoint_settings::is_null(const std::string& key) const {
  const std::string* found = scalar(key);
  return found != nullptr && *found == "null";
}

void checkpoint_settings::check_all_read(std::span<const std::string_view> sections,
                                         std::span<const unused_setting> unused,
                                         std::vector<std::string>& notes) const {
  std::set<std::string_view> unknown;
  const auto look_at = [&](const std::string& key) {
    if (read_.contains(key)) return;
    for (const unused_setting& u : unused)
      if (u.knows(key)) return;
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

bool checkpoint_settings::has(const std::string& key) const {
  read_.insert(key);
  const auto found = settings.find(key);
  return (found != settings.end() && found->second != "null") || lists.contains(key);
}

std::uint32_t checkpoint_settings::number(const std::string& key, std::uint32_t otherwise, std::uint32_t min,
                                          std::uint32_t max) const {
  const std::string* found = scalar(key);
  if (found == nullptr || *found == "null") return otherwise;
  std::uint32_t value = 0;
  if (!is_number(*found, value) || value < min || value > max)
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
          .found = steno::weights::quoted(*found)});
  return value;
}

std::string checkpoint_settings::text(const std::string& key, const std::string& otherwise) const {
  const std::string* found = scalar(key);
  return found == nullptr || *found == "null" ? otherwise : *found;
}

bool checkpoint_settings::flag(const std::string& key, bool otherwise) const {
  const std::string v = text(key, otherwise ? "true" : "false");
  if (v == "true" || v == "True") return true;
  if (v == "false" || v == "False") return false;
  fail({.where = source, .what = key, .expected = "true or false", .found = steno::weights::quoted(v)});
}

void checkpoint_settings::require(const std::string& key, const std::string& value) const {
  const std::string found = is_null(key) ? "null" : text(key, value);
  if (found != value && !(value == "true" && found == "True") && !(value == "false" && found == "False"))
    fail({.where = source,
          .what = key + " is not supported",
          .expected = value,
          .found = steno::weights::quoted(found)});
}

void checkpoint_settings::require(const std::string& key, double value) const {
  const std::string found = is_null(key) ? "null" : text(key, "");
  double number = 0;
  if (settings.contains(key) && !(is_number(found, number) && number == value))
    fail({.where = source,
          .what = key + " is not supported",
          .expected = number_text(value),
          .found = steno::weights::quoted(found)});
}

double checkpoint_settings::real(const std::string& key, double otherwise, double min, double max) const {
  const std::string* found = scalar(key);
  if (found == nullptr || *found == "null") return otherwise;
  double value = 0;
  if (!is_number(*found, value) || !(value >= min && value <= max))
    fail({.where = source,
          .what = key,
          .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
          .found = steno::weights::quoted(*found)});
  return value;
}

std::vector<int> checkpoint_settings::numbers(const std::string& key, std::vector<int> otherwise, int min,
                                              int max) const {
  const auto found = lists.find(key);
  const auto one = settings.find(key);  // it is for another look-up, or unknown
  if (found != lists.end() || one == settings.end() || one->second == "null") read_.insert(key);
  if (found == lists.end()) return otherwise;
  return numbers_of(found->second, key, min, max);
}

std::vector<std::vector<int>> checkpoint_settings::number_lists(const std::string& key, int min, int max) const {
  std::vector<std::vector<int>> all;
  const auto found = tables.find(key);
  if (found == tables.end()) {
    const std::vector<int> one = numbers(key, {}, min, max);
    if (!one.empty()) all.push_back(one);
    return all;
  }
  read_.insert(key);
  for (const std::vector<std::string>& list : found->second) all.push_back(numbers_of(list, key, min, max));
  return all;
}

std::vector<int> checkpoint_settings::numbers_of(const std::vector<std::string>& list, const std::string& key, int min,
                                                 int max) const {
  std::vector<int> all;
  for (const std::string& text : list) {
    int value = 0;
    if (!is_number(text, value) || value < min || value > max)
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
