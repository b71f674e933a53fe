// ONNX files: any bytes are refused with steno::error, or every constant can be read and lies within the file; and what
// Silero VAD makes of them is refused, too, or can be written.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "onnx_file.hpp"
#include "package.hpp"
#include "silero/silero.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  read_or_refuse([&] {
    for (const steno::stored_tensor& t : steno::onnx_tensors("input", image)) {
      require(t.count() <= size);
      std::vector<float> values(t.count());
      t.read(values);
    }
  });
  read_or_refuse([&] {
    steno::imported_model model = steno::silero_files::read_onnx("input", image, {}, nullptr);
    steno::add_tensors(model, {});
    (void)model.file.bytes();
  });
  return 0;
}
