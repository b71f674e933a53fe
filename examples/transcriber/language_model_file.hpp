// The language model of the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/language_model.hpp>

#include <memory>

namespace steno::app {

struct options;

/// Null where there is none. Throws steno::error.
std::unique_ptr<const models::language_model> open_language_model(const options& o);

}  // namespace steno::app
