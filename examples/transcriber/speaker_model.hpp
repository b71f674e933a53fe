// The model that tells who said it, beside transcribe and stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/speaker_attribution.hpp>

#include <optional>

#include "loading.hpp"
#include "options.hpp"

namespace steno::app {

/// A model, and how words are joined with what it finds.
struct speaker_model {
  diarizer model;
  pipelines::speaker_attribution_options rule = {};  ///< with the names that were given
  diarize_options diarization = {};                  ///< with the lengths that were given
};

/// The lengths that were given, beside the model's own; nothing where none was.
std::optional<nn::speaker_cache_options> asked_cache(const speaker_options& asked, const diarizer& d);

/// For a recogniser of this rate. Throws steno::error for a model that does not fit, bad names and
/// bad lengths.
speaker_model open_speakers(const speaker_options& asked, int sample_rate, const executor& run,
                            const note_function& note);

}  // namespace steno::app
