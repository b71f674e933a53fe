// The texts of a FunASR folder: the first byte says which file the others are (config.yaml, configuration.json,
// tokens.json, am.mvn); any bytes are refused with steno::error, at the latest for weights that are none.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "funasr/models.hpp"
#include "fuzz.hpp"

using namespace steno_fuzz;

namespace {
constexpr const char* names[] = {"config.yaml", "configuration.json", "tokens.json", "am.mvn"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const scratch_folder at;
  at.clear();
  at.write("config.yaml", "model: Paraformer\nfrontend_conf:\n  cmvn_file: am.mvn\n");
  at.write("model.pt", "PK");
  at.write(names[data[0] % std::size(names)], text_of(data + 1, size - 1));
  bool refused = true;
  read_or_refuse([&] {
    if (steno::funasr_files::is_checkpoint(at.path())) (void)steno::funasr_files::import_checkpoint(at.path(), {});
    refused = false;
  });
  require(refused);
  return 0;
}
