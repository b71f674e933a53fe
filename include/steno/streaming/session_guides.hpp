// steno/streaming/session_guides.hpp - hotwords and a language model of a session, in the model's units.
//
// Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/guides.hpp>
#include <steno/models/language_model.hpp>
#include <steno/streaming/session.hpp>

#include <memory>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

/// Options of a session that every family with a search of this kind honours, by name.
constexpr bool is_of_searches(std::string_view option) noexcept {
  return option == "beam" || option == "hotwords" || option == "hotword_score" || option == "language_model" ||
         option == "lm_weight";
}

/// What the options of a session favour. Throws steno::error for hotwords with characters that are no units of the
/// model.
template <class Model>
STENO_COLD std::unique_ptr<const search::guides> session_guides(const Model& m, const session_options& o) {
  return std::make_unique<const search::guides>(
      models::guides_of(m, o.hotwords, o.hotword_score, o.language_model, o.lm_weight));
}

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
