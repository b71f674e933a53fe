// SPDX-License-Identifier: Apache-2.0
#include "language_model_file.hpp"

#include "model_files.hpp"
#include "options.hpp"

namespace steno::app {

std::unique_ptr<const models::language_model> open_language_model(const options& o) {
  if (o.lm.empty()) return nullptr;
  return std::make_unique<const models::language_model>(open_model_file(o.lm).file);
}

}  // namespace steno::app
