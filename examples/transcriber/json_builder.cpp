// SPDX-License-Identifier: Apache-2.0
#include "json_builder.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace steno::app {
namespace {

std::string dumped(const nlohmann::json& scalar) {
  return scalar.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

json_builder& json_builder::put(std::string_view value) {
  if (comma_) out_ += ',';
  out_ += value;
  comma_ = true;
  return *this;
}

json_builder& json_builder::open(char bracket) {
  put({&bracket, 1});
  comma_ = false;
  return *this;
}
json_builder& json_builder::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}
json_builder& json_builder::key(std::string_view name) {
  put(dumped(name));
  out_ += ':';
  comma_ = false;
  return *this;
}

json_builder& json_builder::text(std::string_view value) { return put(dumped(value)); }
json_builder& json_builder::number(double value) {
  return std::isfinite(value) ? put(dumped(std::round(value * 1000.0) / 1000.0)) : none();
}
json_builder& json_builder::whole(long long value) { return put(std::to_string(value)); }
json_builder& json_builder::none() { return put("null"); }
json_builder& json_builder::raw(std::string_view json) { return put(json); }
json_builder& json_builder::wholes(std::span<const int> values) {
  open('[');
  for (const int v : values) whole(v);
  return close(']');
}

}  // namespace steno::app
