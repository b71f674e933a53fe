// tools/convert/command_line.hpp - a program's arguments and environment variables in UTF-8, whatever the system's
// encoding is: Windows hands a program those of an old code page.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <optional>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// With the program's name. `argc` and `argv` are main()'s.
std::vector<std::string> arguments_of(int argc, char** argv);
std::optional<std::string> environment(const char* name);

}  // namespace STENO_ABI
}  // namespace steno
