// Nobody destroys what lies in a workspace.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/workspace.hpp>

#include <string>

namespace frame_of_strings {

#ifdef STENO_MUST_NOT_COMPILE
using value = std::string;
#else
using value = double;
#endif

value* f(steno::core::workspace::frame& scratch) { return scratch.take<value>(8); }

}  // namespace frame_of_strings
