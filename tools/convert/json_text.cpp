// tools/convert/json_text.cpp - see json_text.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <steno/error.hpp>
#include <steno/weights/mapped_file.hpp>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

// What the text can be at most, were it JSON: every value but the first stands behind a bracket or a comma.
struct extent_of_json {
  std::size_t depth = 0, values = 1;
};

extent_of_json measure(std::string_view text) {
  extent_of_json e;
  std::size_t level = 0;
  bool string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') string = !string;
    if (string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '[' || c == '{') {
      ++e.values;
      if (++level > e.depth) e.depth = level;
    } else if (c == ',') {
      ++e.values;
    } else if ((c == ']' || c == '}') && level > 0) {
      --level;
    }
  }
  return e;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  const auto refuse = [&](const char* what, std::size_t max, std::size_t found) {
    fail({.where = where, .what = what, .expected = "up to " + std::to_string(max), .found = std::to_string(found)});
  };
  if (text.size() > limits::json_bytes) refuse("bytes of JSON", limits::json_bytes, text.size());
  const extent_of_json e = measure(text);
  if (e.depth > limits::depth) refuse("levels of nested JSON", limits::depth, e.depth);
  if (e.values > limits::json_values) refuse("values in JSON", limits::json_values, e.values);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& bad) {
    fail({.where = where, .what = "not readable as JSON: byte " + std::to_string(bad.byte)});
  } catch (const nlohmann::json::exception&) {  // a number that no double holds
    fail({.where = where, .what = "not readable as JSON: a number is too large"});
  }
}

nlohmann::json read_json(const std::filesystem::path& file) {
  return parse_json(read_text(file, limits::json_bytes), file.string());
}

nlohmann::json read_json_object(const std::filesystem::path& file) {
  nlohmann::json j = read_json(file);
  if (!j.is_object()) fail({.where = file.string(), .what = "is not a JSON object"});
  return j;
}

std::string read_text(const std::filesystem::path& file, std::size_t largest) {
  const weights::mapped_file f(file.string());
  if (f.bytes().size() > largest)
    fail({.where = file.string(),
          .what = "too large for such a file",
          .expected = "up to " + std::to_string(largest) + " bytes",
          .found = std::to_string(f.bytes().size())});
  return {reinterpret_cast<const char*>(f.bytes().data()), f.bytes().size()};
}

}  // namespace STENO_ABI
}  // namespace steno
