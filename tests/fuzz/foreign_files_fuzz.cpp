// Files that are no checkpoints: whatever the bytes behind the first one are, under whatever name that chooses, the
// file is named or left to the readers, alone and in a folder.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>

#include "foreign_files.hpp"
#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const scratch_folder at;
  constexpr const char* names[] = {"model.pt", "model.zip", "adapter_config.json", "model.onnx", "x"};
  at.clear();
  const char* const name = names[data[0] % std::size(names)];
  at.write(name, text_of(data + 1, size - 1));
  const auto shown = [](const std::optional<steno::core::fault>& f) {
    if (f) read_or_refuse([&] { steno::fail(steno::core::fault(*f)); });
  };
  shown(steno::foreign_file(at.path() / name));
  shown(steno::foreign_in_place_of(at.path() / name));
  shown(steno::foreign_folder(at.path(), "a checkpoint"));
  shown(steno::without_weights(at.path(), "model.pt"));
  return 0;
}
