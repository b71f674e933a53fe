// SPDX-License-Identifier: Apache-2.0
#include "loading.hpp"

#include <utility>

namespace steno::app {

transcriber load_transcriber(const std::string& path, const executor& run, const note_function& note) {
  return load_as<transcriber>(path, run, note);
}

any_vad load_detector(const std::string& name, const executor& run, const note_function& note, int rate) {
  if (name == "energy") return open_vad(name, run, rate);
  opened_checkpoint opened = open_model_file(name);
  for (const std::string& text : opened.notes) note(text);
  return open_vad(std::move(opened.file), run);
}

}  // namespace steno::app
