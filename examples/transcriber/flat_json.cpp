// SPDX-License-Identifier: Apache-2.0
#include "flat_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace steno::app {
namespace {

using json = nlohmann::json;

class flat_reader {
 public:
  explicit flat_reader(flat_json& to) : to_(to) {}

  bool null() { return put({.path = {}}); }
  bool boolean(bool v) { return put({.path = {}, .what = flat_value::kind::boolean, .yes = v}); }
  bool number_integer(json::number_integer_t v) { return number(static_cast<double>(v)); }
  bool number_unsigned(json::number_unsigned_t v) { return number(static_cast<double>(v)); }
  bool number_float(json::number_float_t v, const std::string&) { return number(v); }
  bool string(std::string& v) { return put({.path = {}, .what = flat_value::kind::text, .text = std::move(v)}); }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool key(std::string& k) {
    if (k.size() > 64) return wrong("a key is longer than 64 bytes");
    key_ = std::move(k);
    return true;
  }
  bool start_object(std::size_t) { return open(flat_value::kind::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(flat_value::kind::list); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return wrong("it is no JSON"); }

 private:
  bool wrong(const char* why) {
    if (to_.wrong.empty()) to_.wrong = why;
    return false;
  }
  bool number(double v) {
    return put({.path = {},
                .what = flat_value::kind::number,
                .number = v,
                .whole = v == std::floor(v) && std::abs(v) <= 9007199254740992.0});
  }
  bool put(flat_value v) {
    if (inside_.empty()) return wrong("it is no object");
    if (to_.values.size() == 128) return wrong("it has more than 128 values");
    v.path = path();
    const bool element = inside_.back() == flat_value::kind::list;
    if (!element && to_.find(v.path) != nullptr) return wrong("a key stands there twice");
    to_.values.push_back(std::move(v));
    return true;
  }
  bool open(flat_value::kind what) {
    if (inside_.size() == 8) return wrong("more than 8 values are in each other");
    if (inside_.empty() && what != flat_value::kind::object) return wrong("it is no object");
    if (!inside_.empty()) {
      if (!put({.path = {}, .what = what})) return false;
      prefixes_.push_back(to_.values.back().path);
    } else {
      prefixes_.emplace_back();
    }
    inside_.push_back(what);
    return true;
  }
  bool close() {
    inside_.pop_back();
    prefixes_.pop_back();
    return true;
  }
  std::string path() const {
    const std::string& before = prefixes_.back();
    if (inside_.back() == flat_value::kind::list) return before + "[]";
    return before.empty() ? key_ : before + "." + key_;
  }

  flat_json& to_;
  std::string key_;
  std::vector<flat_value::kind> inside_;
  std::vector<std::string> prefixes_;  // the paths of what it is inside of
};

}  // namespace

const flat_value* flat_json::find(std::string_view path) const {
  const auto at = std::find_if(values.begin(), values.end(), [&](const flat_value& v) { return v.path == path; });
  return at == values.end() ? nullptr : &*at;
}

flat_json read_flat_json(std::string_view text) {
  flat_json all;
  flat_reader reader(all);
  if (!json::sax_parse(text.begin(), text.end(), &reader) && all.wrong.empty()) all.wrong = "it is no JSON";
  return all;
}

}  // namespace steno::app
