// SPDX-License-Identifier: Apache-2.0
#include "stage_clock.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <vector>

namespace steno::app {
namespace {

bool is_number(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "encoder.layers.3.norm" as "encoder.layers.*.norm".
std::string without_numbers(std::string_view path) {
  std::string all;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    all += is_number(part) ? "*" : part;
    if (dot == std::string_view::npos) return all;
    all += '.';
    path.remove_prefix(dot + 1);
  }
}

std::string row(double share, double seconds, std::size_t calls, const std::string& name) {
  char figures[64];
  std::snprintf(figures, sizeof figures, "%6.1f %% %10.3f %8zu  ", 100 * share, 1000 * seconds, calls);
  return figures + name;
}

}  // namespace

void stage_clock::mark(std::string_view path) noexcept {
  try {
    const double now = now_();
    spent& s = stages_[without_numbers(path)];
    s.seconds += now - last_;
    ++s.calls;
    last_ = now_();                  // what this took is nobody's
  } catch (const std::bad_alloc&) {  // this stage's time goes to the next one
  }
}

std::vector<std::string> stage_clock::lines(std::size_t most) const {
  std::vector<std::string> out;
  if (stages_.empty()) return out;
  spent all;
  std::map<std::string, spent> parts;
  for (const auto& [name, s] : stages_)
    for (spent* const sum : {&all, &parts[name.substr(0, name.find('.'))]}) sum->add(s);
  const auto longest_first = [](const auto& from) {
    std::vector<std::pair<std::string, spent>> rows(from.begin(), from.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    return rows;
  };
  const auto add = [&](const std::string& name, const spent& s) {
    out.push_back(row(all.seconds > 0 ? s.seconds / all.seconds : 0.0, s.seconds, s.calls, name));
  };
  out.emplace_back("   share         ms    calls  part");
  for (const auto& [name, s] : longest_first(parts)) add(name, s);
  out.emplace_back("   share         ms    calls  stage");
  const auto rows = longest_first(stages_);
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) add(rows[i].first, rows[i].second);
  spent rest;
  for (std::size_t i = most; i < rows.size(); ++i) rest.add(rows[i].second);
  if (rows.size() > most) add(std::to_string(rows.size() - most) + " more stages", rest);
  return out;
}

}  // namespace steno::app
