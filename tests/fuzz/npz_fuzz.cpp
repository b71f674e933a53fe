// numpy's .npz archives: any bytes are refused with steno::error, or load and every array can be read.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "npz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(data),
                                     reinterpret_cast<const std::byte*>(data) + size);
  read_or_refuse([&] {
    for (const steno::stored_tensor& t : steno::npz_tensors(image, "input")) {
      require(t.count() <= (std::size_t{16} << 20) + 8 * size);
      std::vector<float> values(t.count());
      t.read(values);
    }
  });
  return 0;
}
