// The page at "/": record or drop a file, and see words appear. page.html is built into the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace steno::app {

std::string_view page();

}  // namespace steno::app
