// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include "options.hpp"

namespace steno::app {

std::optional<format> find_format(std::string_view name) {
  if (name == "txt") return format::text;
  if (name == "markdown") return format::md;
  for (const format_facts& f : format_table)
    if (f.name == name) return f.id;
  return std::nullopt;
}

std::optional<style> find_style(std::string_view name) {
  if (name == "usual") return style::usual;
  if (name == "steno") return style::steno;
  if (name == "openai") return style::openai;
  return std::nullopt;
}

std::optional<text_rows> find_rows(std::string_view name) {
  constexpr std::string_view names[] = {"usual", "recording", "paragraph", "segment"};
  const auto* at = std::find(std::begin(names), std::end(names), name);
  if (at == std::end(names)) return std::nullopt;
  return static_cast<text_rows>(at - std::begin(names));
}

std::string names_of_formats() {
  std::string all;
  const std::size_t count = std::size(format_table);
  for (std::size_t i = 0; i < count; ++i)
    all.append(i == 0 ? "" : i + 1 < count ? ", " : " and ").append(format_table[i].name);
  return all;
}

std::vector<format> find_formats(std::string_view names) {
  std::vector<format> all;
  const auto add = [&all](format f) {
    if (!has_format(all, f)) all.push_back(f);
  };
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, end - at);
    at = end + 1;
    if (name == "all") {
      for (const format f : {format::text, format::vtt, format::srt, format::tsv, format::json}) add(f);
      continue;
    }
    const auto f = find_format(name);
    if (!f) wrong_usage("unknown format " + std::string(name) + " (there are " + names_of_formats() + ")");
    add(*f);
  }
  return all;
}

}  // namespace steno::app
