// Torch files of both layouts: any bytes are refused with steno::error, or load and every tensor can be read.
#include <steno/error.hpp>

#include <cstdlib>

#include "torch/checkpoint.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    steno::torch::checkpoint c(std::as_bytes(std::span(data, size)), "input");
    for (const auto& e : c.tensors()) {
      require(c.find(e.name) != nullptr);
      require(e.count * steno::torch::size_of_scalar(e.type) <= size);
      std::vector<float> values(static_cast<std::size_t>(e.count));
      c.read(e, values);
      std::vector<std::byte> raw(static_cast<std::size_t>(e.count) * steno::torch::size_of_scalar(e.type));
      c.read_bytes(e, raw);
    }
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
