// SPDX-License-Identifier: Apache-2.0
#include "itn_tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

namespace steno::app {

namespace {

constexpr int deepest_itn_token = 8;  // levels; NeMo's have three
constexpr int most_itn_orders = 720;  // of six fields

struct itn_reader {
  std::string_view rest;

  void skip_spaces() { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); }
  bool take(char c) {
    skip_spaces();
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  std::string key() {
    skip_spaces();
    std::size_t n = 0;
    const auto of_key = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    while (n < rest.size() && of_key(rest[n])) ++n;
    std::string name(rest.substr(0, n));
    rest.remove_prefix(n);
    return name;
  }
  // Up to a quotation mark that a space or the end follows: NeMo does not escape those within.
  bool value(std::string& out) {
    while (!rest.empty()) {
      if (rest[0] == '\\' && rest.size() > 1) {
        out += rest.substr(0, 2);
        rest.remove_prefix(2);
        continue;
      }
      if (rest[0] == '"' && (rest.size() == 1 || rest[1] == ' ')) {
        rest.remove_prefix(1);
        return true;
      }
      out += rest[0];
      rest.remove_prefix(1);
    }
    return false;
  }
  bool token(itn_token& t, int depth) {
    t.name = key();
    if (t.name.empty() || depth > deepest_itn_token) return false;
    if (take(':')) {
      if (take('"')) return value(t.value);
      t.value = key();  // preserve_order: true
      return !t.value.empty();
    }
    if (!take('{')) return false;
    t.group = true;
    while (!take('}')) {
      t.fields.emplace_back();
      if (rest.empty() || !token(t.fields.back(), depth + 1)) return false;
    }
    return true;
  }
};

bool keeps_its_order(const itn_token& t) {
  return std::any_of(t.fields.begin(), t.fields.end(),
                     [](const itn_token& f) { return f.name == "preserve_order" && f.value == "true"; });
}

std::span<const std::string_view> order_of_class(std::string_view name) {
  static constexpr std::string_view date[] = {"year", "month", "day"};
  static constexpr std::string_view fraction[] = {"sign", "numerator", "denominator"};
  static constexpr std::string_view measure[] = {"numerator", "denominator", "value", "units"};
  static constexpr std::string_view money[] = {"currency", "value", "decimal", "quantity"};
  static constexpr std::string_view time[] = {"hour", "minute", "second", "noon", "zone"};
  static constexpr std::string_view telephone[] = {"country_code", "number_part"};
  static constexpr std::string_view electronic[] = {"username", "domain", "protocol"};
  if (name == "date") return date;
  if (name == "fraction") return fraction;
  if (name == "measure") return measure;
  if (name == "money") return money;
  if (name == "time") return time;
  if (name == "telephone") return telephone;
  if (name == "electronic") return electronic;
  return {};
}

// Every order of t.fields[place...] and of the groups among the fields, by recursion over `groups` still to be ordered.
bool orders_from(itn_token& whole, std::vector<itn_token*> groups, int& left,
                 const std::function<bool(const itn_token&)>& found) {
  if (groups.empty()) return left-- > 0 && found(whole);
  itn_token& t = *groups.back();
  groups.pop_back();
  std::vector<std::size_t> places(t.fields.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const std::vector<itn_token> fields = t.fields;
  do {
    for (std::size_t i = 0; i < places.size(); ++i) t.fields[i] = fields[places[i]];
    std::vector<itn_token*> inner = groups;
    for (itn_token& f : t.fields)
      if (f.group) inner.push_back(&f);
    if (orders_from(whole, inner, left, found)) return true;
  } while (left > 0 && !keeps_its_order(t) && std::next_permutation(places.begin(), places.end()));
  t.fields = fields;
  return false;
}

}  // namespace

std::optional<std::vector<itn_token>> parse_itn_tokens(std::string_view tagged) {
  itn_reader in{tagged};
  std::vector<itn_token> tokens;
  for (in.skip_spaces(); !in.rest.empty(); in.skip_spaces()) {
    tokens.emplace_back();
    if (!in.token(tokens.back(), 1) || !tokens.back().group) return std::nullopt;
  }
  return tokens;
}

std::string itn_text(const itn_token& t) {
  if (!t.group) return t.name == "preserve_order" ? t.name + ": " + t.value : t.name + ": \"" + t.value + '"';
  std::string text = t.name + " {";
  for (const itn_token& f : t.fields) text += ' ' + itn_text(f);
  return text + " }";
}

itn_token in_the_order_of_wetext(itn_token t) {
  if (keeps_its_order(t)) return t;
  const std::span<const std::string_view> order = order_of_class(t.name);
  const auto place = [&](const itn_token& f) { return std::find(order.begin(), order.end(), f.name) - order.begin(); };
  std::stable_sort(t.fields.begin(), t.fields.end(),
                   [&](const itn_token& a, const itn_token& b) { return place(a) < place(b); });
  return t;
}

bool each_order(const itn_token& t, const std::function<bool(const itn_token&)>& found) {
  itn_token whole = t;
  int left = most_itn_orders;
  return orders_from(whole, whole.group ? std::vector<itn_token*>{&whole} : std::vector<itn_token*>{}, left, found);
}

}  // namespace steno::app
