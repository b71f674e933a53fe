// Any model from a file, for those parts of the program that know steno::transcriber.
#pragma once
#include <steno/core/executor.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <functional>
#include <string>

namespace steno::app {

/// Told what the user should know about a checkpoint that was converted.
using note_function = std::function<void(const std::string&)>;

/// Loads a packaged GGUF or anything steno-convert reads. Throws steno::error.
transcriber load_transcriber(const std::string& path, const executor& run, const note_function& note);

}  // namespace steno::app
