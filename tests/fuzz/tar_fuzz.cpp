// tar archives, plain or gzip: any bytes are refused with steno::error, or every byte of every member can be read.
#include <steno/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "nemo/tar.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const steno::nemo::tar_archive archive(std::as_bytes(std::span(data, size)), "input");
    unsigned sum = 0;
    std::size_t total = 0;
    for (const auto& m : archive.members()) {
      require(!m.name.starts_with("./"));
      for (const std::byte b : m.bytes) sum += std::to_integer<unsigned>(b);
      total += m.bytes.size();
    }
    // Deflate's best is 1032 to 1.
    require(sum <= 255 * total && total <= 1100 * size);
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
