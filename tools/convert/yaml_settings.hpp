// tools/convert/yaml_settings.hpp - settings of a YAML file (checkpoint_settings.hpp).
//
// A value "${path}" stands for another setting. Tested in tests/convert/checkpoint_settings_test.cpp, wenet_test.cpp
// and nemo_test.cpp, fuzzed by tests/fuzz/yaml_settings_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Throws steno::error when `text` is not a YAML map; `what` names the kind of config.
checkpoint_settings read_yaml(const std::string& source, const std::string& text, std::string_view what);

}  // namespace STENO_ABI
}  // namespace steno
