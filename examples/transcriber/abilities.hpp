// What each model honours of the options that not every model does: what the programs check, and steno info tells.
#pragma once
#include <steno/pipelines/any_model.hpp>

#include <string>
#include <vector>

namespace steno::app {

/// Of transcribe, as they stand on the command line: "--language", "--beam", ...
std::vector<std::string> honoured_options(const any_model& model);
/// Of stream and serve; empty for models that do not stream.
std::vector<std::string> honoured_live_options(const any_model& model);

/// Whether texts can have numbers as figures, or not, as asked.
bool has_itn(const any_model& model);

}  // namespace steno::app
