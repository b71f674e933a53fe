// safetensors files: any bytes are refused with steno::error, or load and every tensor can be read.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "safetensors.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const steno::safetensors_file file(std::as_bytes(std::span(data, size)), "input");
    for (const steno::stored_tensor& t : file.tensors()) {
      std::size_t count = 1;
      for (const steno::extent n : t.shape) count *= static_cast<std::size_t>(n);
      require(count <= size);
      std::vector<float> values(count);
      t.read(values);
    }
  });
  return 0;
}
