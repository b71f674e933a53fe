// Keys that clients must have: "Authorization: Bearer KEY".
//
// Tested in tests/transcriber/api_keys_test.cpp and tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

class api_keys {
 public:
  api_keys() = default;  ///< nobody needs one
  /// A key on a line; empty lines and those that begin with # are none. Throws steno::error for a file without keys,
  /// and for keys that are no printable ASCII of 8 to 256 characters; messages do not show them.
  static api_keys read(const std::string& path);

  bool needed() const { return !keys_.empty(); }
  /// Whether the value of the field Authorization holds one of them. Takes as long for every value.
  bool allows(std::string_view authorization) const;
  /// Whether this is one of them. Takes as long for every value.
  bool holds(std::string_view key) const;

 private:
  static constexpr std::size_t longest = 256;
  using padded = std::array<unsigned char, longest + 2>;  // its length in the end
  static padded pad(std::string_view key);

  std::vector<padded> keys_;
};

}  // namespace steno::app
