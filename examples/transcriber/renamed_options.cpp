// SPDX-License-Identifier: Apache-2.0
#include "renamed_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace steno::app {

namespace {

// CLI11's own look-up of a name is noexcept, yet allocates: without memory it would end the program.
bool has_option(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* o : app.get_options())
    for (const std::string& l : o->get_lnames())
      if (name.substr(2) == l) return true;
  return false;
}

}  // namespace

void rename_options(std::vector<std::string>& arguments, const CLI::App& app, std::vector<std::string>& notes) {
  const auto files = std::find(arguments.begin(), arguments.end(), "--");  // behind it there are no options
  for (const renamed_option& r : renamed_options) {
    if (!has_option(app, r.now)) continue;
    bool found = false;
    for (auto a = arguments.begin(); a != files; ++a) {
      if (a->substr(0, a->find('=')) != r.before) continue;
      a->replace(0, r.before.size(), r.now);
      found = true;
    }
    if (found) notes.push_back("note: " + std::string(r.before) + " is now " + std::string(r.now));
  }
}

}  // namespace steno::app
