// What each model honours of the options that not every model does: one table, which the programs check and steno info
// shows.
#pragma once
#include <steno/pipelines/any_model.hpp>

#include <string>
#include <vector>

#include "engine.hpp"

namespace steno::app {

/// Of transcribe and bench: what the model makes of every option that not all models honour.
std::vector<ability> abilities_of(const any_model& model);

/// Those that it honours, as steno info shows them: "--language", "--longest (with --vad)", ...
std::vector<std::string> honoured_options(const any_model& model);
/// Of stream and serve; empty for models that do not stream.
std::vector<std::string> honoured_live_options(const any_model& model);

}  // namespace steno::app
