// Which model to use when no file is named.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace steno::app {

/// What a model does.
enum class model_task { recognises, finds_speech, punctuates, aligns, tells_speakers };

/// A bundled demonstration model.
struct demo_model {
  std::string family;  ///< what `--demo` is told: the file's name without ".gguf"; "sense-voice" is demo.gguf
  std::string path;
};

/// The demonstration models in ../share/steno/models beside the program or else in the source tree it was built from,
/// by family.
std::vector<demo_model> demo_models();

/// Whether a path is one of them, or a recording that is bundled with them.
bool is_demo_model(const std::string& path);
bool is_demo_recording(const std::string& path);

/// The demonstration model of a family; the last part of its name will do where it is the only one ("tdt" is
/// parakeet-tdt). Without a task any model will do. Throws `stop` with the families there are.
std::string find_demo(const std::string& family, std::optional<model_task> task = model_task::recognises);

/// The demonstration model of a task of which there is one: not of `recognises`. `option` asked for it. Throws `stop`.
std::string find_demo(model_task task, const std::string& option);

/// `named` unless it is empty; else the demo model: $STENO_DEMO_MODEL, or the bundled one of SenseVoice. Throws
/// steno::error when there is none.
std::string find_model(const std::string& named);

}  // namespace steno::app
