// JSON as text that grows, without a tree of values: the destructor of nlohmann's arrays and objects allocates and ends
// the program where memory is short, and a tree of a long recording takes ten times what it says.
//
// Tested in tests/transcriber/json_builder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace steno::app {

/// Writes one value, on one line and without spaces. Keys and values come in the order of the text; commas are its own.
class json_builder {
 public:
  /// "{" or "[" ... "}" or "]"
  json_builder& open(char bracket);
  json_builder& close(char bracket);
  /// Before each value of an object.
  json_builder& key(std::string_view name);
  /// Bytes that are not UTF-8 become U+FFFD.
  json_builder& text(std::string_view value);
  /// At most three decimals; what is infinite or no number is null.
  json_builder& number(double value);
  json_builder& whole(long long value);
  json_builder& none();
  json_builder& wholes(std::span<const int> values);
  /// A value that is JSON already.
  json_builder& raw(std::string_view json);

  /// What was written, in the state that it is in.
  const std::string& str() const& { return out_; }
  std::string str() && { return std::move(out_); }

 private:
  json_builder& put(std::string_view value);

  std::string out_;
  bool comma_ = false;  // before the next key or value
};

}  // namespace steno::app
