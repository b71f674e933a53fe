// whisper.cpp's Silero files: any bytes are refused with steno::error. Behind a first byte 0 stands a whole file,
// behind any other the tensors of a file whose header is right.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "package.hpp"
#include "silero/silero.hpp"

using namespace steno_fuzz;

namespace {
// For 16 kHz, all layers 2 wide.
std::string prefix() {
  std::string all = "lmgg";
  const auto put = [&](std::int32_t n) { all.append(reinterpret_cast<const char*>(&n), sizeof n); };
  put(10);
  all += "silero-16k";
  for (const std::int32_t n : {6, 2, 0, 512, 64, 4, 129, 2, 3, 2, 2, 3, 2, 2, 3, 2, 2, 3, 2, 2, 2, 1}) put(n);
  return all;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string good = prefix();
  const std::vector<std::byte> image = file_of(data, size, good);
  read_or_refuse([&] {
    steno::imported_model model = steno::silero_files::read_ggml("input", image, {}, nullptr);
    steno::add_tensors(model, {});
    (void)model.file.bytes();
  });
  return 0;
}
