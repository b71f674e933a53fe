// Settings of what finds speech, for all verbs that take a detector: --threshold of vad is --vad-threshold elsewhere.
//
// Tested in tests/transcriber/detector_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_vad.hpp>

#include <string>

namespace CLI {
class App;
}

namespace steno::app {

/// Adds --threshold, --neg-threshold, --min-speech, --min-silence, --pad and --max-segment with `front` ("--vad-")
/// before their names.
void add_detector_settings(CLI::App& app, vad_settings& s, const std::string& front);

/// The first that is set, as it is written; empty: none.
std::string first_setting(const vad_settings& s, const std::string& front);

/// Throws `stop` for settings that this detector has not, or which are out of its range.
void check_detector_settings(const any_vad& v, const vad_settings& s, const std::string& front);

}  // namespace steno::app
