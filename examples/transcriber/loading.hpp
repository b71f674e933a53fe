// Models from any file: a packaged GGUF, or a checkpoint that steno-convert reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <functional>
#include <string>

#include "model_files.hpp"

namespace steno::app {

/// Takes what the user should know about a checkpoint that was converted.
using note_function = std::function<void(const std::string&)>;

/// A model of any kind that has a constructor from a file. Throws steno::error.
template <class Model>
Model load_as(const std::string& path, const executor& run, const note_function& note) {
  opened_checkpoint opened = open_model_file(path);
  for (const std::string& text : opened.notes) note(text);
  return Model(std::move(opened.file), run);
}

/// Throws steno::error.
transcriber load_transcriber(const std::string& path, const executor& run, const note_function& note);
/// "energy" for samples at `rate` Hz, or a detector from a file. Throws steno::error.
any_vad load_detector(const std::string& name, const executor& run, const note_function& note, int rate = 16000);

}  // namespace steno::app
