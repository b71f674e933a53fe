// What each model supports of the options that not every model does: one table, which the programs check and steno info
// shows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/transcriber.hpp>

#include <set>
#include <string>
#include <vector>

namespace steno::app {

struct options;

/// An option that not every model supports, and what one model makes of it.
struct ability {
  enum class support { never, with_vad, always };
  std::string option;  ///< as on the command line
  support supported = support::never;
  std::string why = "this model has no such option";  ///< it is not, or not without --vad

  bool holds(bool vad) const { return supported == support::always || (vad && supported == support::with_vad); }
};

/// Of transcribe and bench: what the model makes of every option that not all models support.
std::vector<ability> abilities_of(const transcriber& model);

/// Those that it supports, as steno info shows them: "--language", "--max-clip-seconds (with --vad)", ...
std::vector<std::string> supported_options(const transcriber& model);
/// Of stream and serve.
std::vector<std::string> supported_live_options(const transcriber& model);

/// Of the verb's options, those that o.model does not take, for the help; none where that cannot be told.
std::set<std::string> options_left_out(const options& o);

}  // namespace steno::app
