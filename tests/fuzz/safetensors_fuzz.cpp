// safetensors files: any bytes are refused with steno::error, or load and every tensor can be read.
#include <steno/error.hpp>

#include <cstdint>
#include <cstdlib>

#include "safetensors.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const steno::safetensors_file file(std::as_bytes(std::span(data, size)), "input");
    for (const steno::stored_tensor& t : file.tensors()) {
      std::size_t count = 1;
      for (const steno::extent n : t.shape) count *= static_cast<std::size_t>(n);
      require(count <= size);
      std::vector<float> values(count);
      t.read(values);
    }
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
