// tools/trace/families.hpp - the families steno-trace knows.
//
// Each file of a family has its function and one `family` at namespace scope, which enters the list by itself: a new
// family is a new file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "job.hpp"

namespace steno::trace {

struct family {
  family(std::string_view a, std::string_view s, void (*f)(job& j))
      : architecture(a), settings(s), run(f), next(first) {
    first = this;
  }
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  std::string_view architecture, settings;  ///< settings: for --help
  void (*run)(job& j);
  const family* next;
  static inline const family* first = nullptr;  ///< in no order
};

}  // namespace steno::trace
