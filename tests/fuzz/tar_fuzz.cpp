// tar archives, plain or gzip: any bytes are refused with steno::error, or every byte of every member can be read.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz.hpp"
#include "limits.hpp"
#include "nemo/tar.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const steno::nemo_files::tar_archive archive(std::as_bytes(std::span(data, size)), "input");
    unsigned sum = 0;
    std::size_t total = 0;
    for (const auto& m : archive.members()) {
      require(!m.name.starts_with("./"));
      for (const std::byte b : m.bytes) sum += std::to_integer<unsigned>(b);
      total += m.bytes.size();
    }
    require(sum <= 255 * total && !steno::limits::unpacks_too_far(total, size));
  });
  return 0;
}
