// tools/convert/yaml_bounds.hpp - refuses YAML that would grow beyond the limits, before anything is built from it.
//
// One pass over the parser's events: an alias counts as much as what it repeats, so the size of the whole text with
// all aliases written out is known without writing them out. Tested in tests/convert/limits_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <yaml-cpp/yaml.h>

#include <string>

namespace steno {
inline namespace STENO_ABI {

/// Throws YAML::Exception when `text` is no YAML or, with its aliases written out, beyond limits.hpp.
void check_yaml_bounds(const std::string& text);

}  // namespace STENO_ABI
}  // namespace steno
