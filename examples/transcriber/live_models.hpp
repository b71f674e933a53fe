// What stands beside the model of stream and serve: a detector whose segments are recognised, a model of final results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>

#include <optional>
#include <string_view>

#include "loading.hpp"
#include "options.hpp"

namespace steno::app {

/// Whether stream and serve have an effect of an option, by its name in session_options: of the model's own stream, or
/// of segments, which are recognised where the words of the own stream come late.
bool takes_live(const transcriber& model, std::string_view option);

/// Stays where it is: sessions refer to it.
class live_models {
 public:
  /// Opens what was asked for beside `model`. Throws steno::error, and stop for what would do nothing. Where nothing
  /// says which, a model whose own stream has words late (`stream_delay`) recognises segments, unless `asked` has an
  /// option of its own stream.
  live_models(const options& o, const session_options& asked, const transcriber& model, const executor& run,
              const note_function& note);
  live_models(const live_models&) = delete;

  /// For any_session.
  pipelines::session_models beside() const;
  /// What --vad names; null: nothing.
  const any_vad* named() const { return named_ ? &*detector_ : nullptr; }

 private:
  vad_settings settings_;
  std::optional<any_vad> detector_;
  std::optional<transcriber> final_;
  bool named_, by_segments_;
};

}  // namespace steno::app
