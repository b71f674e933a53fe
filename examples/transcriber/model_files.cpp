#include "model_files.hpp"

#include <steno/models/load.hpp>

namespace steno::app {
namespace {

model_file_use chosen;  // by the command line, before anything is opened

}  // namespace

void use_model_files(const model_file_use& how) { chosen = how; }

opened_checkpoint open_model_file(const std::string& path) {
  opened_checkpoint opened = open_checkpoint(path, chosen.copied ? file_reading::copied : file_reading::mapped);
  if (chosen.checked) check_weights(opened.file);
  return opened;
}

}  // namespace steno::app
