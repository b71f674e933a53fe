// The models of steno serve, from what was asked for on the command line: the first is loaded at once, the others when
// a request names them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "loading.hpp"
#include "model_shelf.hpp"
#include "options.hpp"

namespace steno::app {

/// `note` is told what a model has no use for, and what the user should know about its file; from any thread. Throws
/// steno::error, and stop for options that make no sense to the first model.
std::unique_ptr<model_shelf> open_served_models(const options& o, const note_function& note);

}  // namespace steno::app
