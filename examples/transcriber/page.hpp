// The page at "/": record or drop a file, and see words appear. page.html is built into the program.
#pragma once
#include <string_view>

namespace steno::app {

std::string_view page();

}  // namespace steno::app
