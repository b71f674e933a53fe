// JSON of a client as a flat list of its values, each with the path that leads to it: without a tree, whose destructor
// allocates where memory is short, and with as many values as a message of this kind may have.
//
//   {"session": {"include": ["a"], "audio": {}}}   session {}, session.include [], session.include[] "a",
//                                                  session.audio {}
// Tested in tests/transcriber/flat_json_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

struct flat_value {
  enum class kind { null, boolean, number, text, object, list };
  std::string path;
  kind what = kind::null;
  bool yes = false;       ///< of boolean
  double number = 0;      ///< of number
  bool whole = false;     ///< a number without a fraction that fits 53 bits
  std::string text = {};  ///< of text
};

struct flat_json {
  std::vector<flat_value> values;  ///< in the order of the text
  std::string wrong;               ///< why it is no such message; empty: it is one

  /// The value at this path, or null.
  const flat_value* find(std::string_view path) const;
};

/// An object with at most 128 values, 8 of them in each other; keys of at most 64 bytes, none of them twice.
flat_json read_flat_json(std::string_view text);

}  // namespace steno::app
