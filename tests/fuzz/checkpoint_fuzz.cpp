// Torch files of both layouts: any bytes are refused with steno::error, or load and every tensor can be read.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "fuzz.hpp"
#include "torch/checkpoint.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    steno::torch::checkpoint c(std::as_bytes(std::span(data, size)), "input");
    for (const auto& e : c.tensors()) {
      require(c.find(e.name) != nullptr);
      require(e.count * steno::torch::size_of_scalar(e.type) <= size);
      std::vector<float> values(static_cast<std::size_t>(e.count));
      c.read(e, values);
      std::vector<std::byte> raw(static_cast<std::size_t>(e.count) * steno::torch::size_of_scalar(e.type));
      c.read_bytes(e, raw);
      const auto shown = c.show(e);
      require(shown.empty() || std::ranges::equal(shown, raw));
    }
  });
  return 0;
}
