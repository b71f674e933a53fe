// What a NeMo config says of the model, and the notes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "nemo/canary.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"
#include "yaml_settings.hpp"

namespace steno::test {

inline std::vector<std::string> notes_of_nemo(const std::string& text) {
  const checkpoint_settings f = read_yaml("model_config.yaml", text, "a config");
  std::vector<std::string> notes;
  if (nemo_files::is_sortformer(f))
    nemo_files::read_sortformer_settings(f);
  else if (nemo_files::is_canary(f))
    nemo_files::read_canary_settings(f);
  else
    nemo_files::read_parakeet_settings(f);
  nemo_files::check_settings(f, notes);
  return notes;
}

}  // namespace steno::test
