// whisper.cpp's .bin files: any bytes are refused with steno::error. Behind a first byte 0 stands a whole file, behind
// any other the tensors of a file whose header and tokens are right.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "fuzz.hpp"
#include "package.hpp"
#include "whisper/whisper.hpp"

using namespace steno_fuzz;

namespace {
// One layer each, 2 wide, 8 positions; 50256 tokens of one byte.
std::string prefix() {
  std::string all = "lmgg";
  const auto put = [&](std::int32_t n) { all.append(reinterpret_cast<const char*>(&n), 4); };
  for (const std::int32_t n : {51864, 4, 2, 1, 1, 8, 2, 1, 1, 80, 1, 80, 201}) put(n);
  all.append(80 * 201 * 4, '\0');
  put(50256);
  for (int i = 0; i < 50256; ++i) {
    put(1);
    all += static_cast<char>('a' + i % 26);
  }
  return all;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string good = prefix();
  const std::vector<std::byte> image = file_of(data, size, good);
  read_or_refuse([&] {
    steno::imported_model model = steno::whisper_files::read_ggml("input", image, nullptr);
    steno::add_tensors(model, {});
  });
  return 0;
}
