// What is said when something could not be done: the file, what happened, and what to do about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <string>

namespace steno::app {

/// One line about `e`, which happened to the file or model `about`. Those of the library name what they are about
/// themselves; short memory and threads that cannot be had are told in words of the program's options.
std::string failure_text(const std::exception& e, const std::string& about);

}  // namespace steno::app
