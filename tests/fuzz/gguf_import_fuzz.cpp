// GGUF files as input of the converter: any bytes are refused with steno::error, or become a file the reader takes.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <cstdint>

#include "fuzz.hpp"
#include "gguf_import.hpp"
#include "package.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const std::optional<steno::dtype> type : {std::optional<steno::dtype>(), std::optional(steno::dtype::q8_0)}) {
    read_or_refuse([&] {
      steno::imported_model model = steno::import_gguf(steno::gguf_file("input", bytes), {});
      steno::add_tensors(model, {.type = type});
      // Blocks may say more than the file holds: 18 bytes of q4_0 are 32 values.
      if (model.file.size() > 64 * size) return;
      const std::vector<std::byte> image = model.file.bytes();
      const steno::gguf_file again("again", image);
      require(again.size() == model.tensors.size());
    });
  }
  return 0;
}
