// The options of each verb, as the command line has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "decoding.hpp"
#include "options.hpp"

namespace steno::app {

/// What CLI11 fills in; checked and converted afterwards.
struct raw_options {
  std::vector<std::string> models;  ///< of serve: NAME=MODEL or MODEL
  std::string format = "text", part, pcm_format;
  int pcm_rate = 0, pcm_channels = 0;
  bool no_progress = false;
  std::string progress = "bar";
  std::string style = "usual", lines = "usual";
  std::string demo;
  bool bundled = false;  ///< --demo of a verb that has no families
  std::string channels = "mix";
  std::optional<std::string> ffmpeg;
  raw_decoding decoding;
};

/// Those of o.verb.
void add_options(CLI::App& app, options& o, raw_options& raw);
/// --help, --version and --config.
void add_common_options(CLI::App& app);
/// Options that are added from now on belong to this topic of the help: "Output: where results go".
void topic(CLI::App& app, const char* name);

}  // namespace steno::app
