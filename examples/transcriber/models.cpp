// steno models: what is on this machine, and where the rest is published.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "json_builder.hpp"
#include "model_folders.hpp"
#include "output_place.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

std::string size_text(std::uint64_t bytes) {
  char text[32];
  const auto b = static_cast<double>(bytes);
  std::snprintf(text, sizeof text,
                b >= 1e9   ? "%.1f GB"
                : b >= 1e6 ? "%.0f MB"
                           : "%.1f MB",
                b >= 1e9 ? b / 1e9 : b / 1e6);
  return text;
}

std::string padded_to(std::string text, int width) {
  text.append(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ');
  return text;
}

std::string as_text(const std::vector<model_here>& all, const std::vector<model_kind>& kinds) {
  int names = 4, families = 6, sizes = 4;
  for (std::size_t i = 0; i < all.size(); ++i) {
    names = std::max(names, columns(printable(all[i].name)));
    families = std::max(families, columns(printable(kinds[i].family)));
    sizes = std::max(sizes, columns(size_text(kinds[i].bytes)));
  }
  std::string out, place;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].place != place) out.append(out.empty() ? "" : "\n").append(all[i].place).append("\n");
    place = all[i].place;
    const std::string family = kinds[i].family.empty() ? "not read" : printable(kinds[i].family);
    out.append("  ").append(padded_to(printable(all[i].name), names)).append("  ").append(padded_to(family, families));
    out.append("  ").append(padded_to(size_text(kinds[i].bytes), sizes));
    out.append(kinds[i].format.empty() ? "" : "  ").append(kinds[i].format).append("\n");
  }
  return out;
}

std::string as_json(const std::vector<model_here>& all, const std::vector<model_kind>& kinds) {
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    json_builder j;
    const auto text = [&](const char* key, const std::string& value) {
      j.key(key);
      if (value.empty())
        j.none();
      else
        j.text(value);
    };
    j.open('{').key("name").text(all[i].name).key("path").text(all[i].path.string()).key("place").text(all[i].place);
    text("family", kinds[i].family);
    text("format", kinds[i].format);
    j.key("bytes").whole(static_cast<long long>(kinds[i].bytes)).close('}');
    out.append(j.str()).append("\n");
  }
  return out;
}

}  // namespace

int run_models(const options& o) {
  screen on;
  std::string text;
  if (!o.how.empty()) {
    text = how_to_get(o.how);
  } else {
    if (!o.quiet)
      for (const std::string& folder : missing_folders())
        on.message("steno: STENO_MODELS: " + printable(folder) + " is no folder");
    const std::vector<model_here> all = models_here(o.models);
    std::vector<model_kind> kinds;
    for (const model_here& m : all) kinds.push_back(kind_of(m.path));
    text = output_format(o) == format::text ? as_text(all, kinds) : as_json(all, kinds);
    if (all.empty() && !o.quiet)
      on.message(
          "steno: no models are here: put them into ~/.local/share/steno/models, or name folders in STENO_MODELS; "
          "steno models --how NAME says where one is published, steno-convert --list names all");
  }
  if (!text.empty()) output_place("", {}, on).put(text);
  return 0;
}

}  // namespace steno::app
