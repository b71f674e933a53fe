// tools/convert/json_settings.hpp - settings of a JSON object (checkpoint_settings.hpp): config.json and its
// neighbours.
//
// Tested in tests/convert/checkpoint_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {

/// `object` must be one; parse_json() has bounded it. `source` stands in messages.
checkpoint_settings json_settings(const std::string& source, const nlohmann::json& object);

}  // namespace STENO_ABI
}  // namespace steno
