// whisper.cpp's Parakeet files: any bytes are refused with steno::error. Behind a first byte 0 stands a whole file,
// behind any other the tensors of a file whose header, tables and pieces are right.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/nemo_mel.hpp>

#include <cstdint>

#include "fuzz.hpp"
#include "nemo/parakeet.hpp"
#include "package.hpp"

using namespace steno_fuzz;

namespace {
// One layer, 2 wide, 8 bands; one piece, one duration.
std::string prefix() {
  std::string all = "lmgg";
  const auto put = [&](auto n) { all.append(reinterpret_cast<const char*>(&n), sizeof n); };
  for (const std::int32_t n : {1, 5000, 2, 1, 1, 8, 0, 512, 8, 1, 1, 1, 1, 1, 10, 8, 257}) put(n);
  const steno::frontends::nemo_mel<> mel({.mels = 8});
  const auto& f = mel.filters();
  std::vector<float> dense(8 * 257);
  for (std::size_t b = 0; b < 8; ++b)
    for (steno::extent k = f.begin[b]; k < f.begin[b + 1]; ++k)
      dense[b * 257 + static_cast<std::size_t>(f.first[b] + k - f.begin[b])] = f.weights[static_cast<std::size_t>(k)];
  for (const float v : dense) put(v);
  put(std::int32_t{400});
  all.append(1600, '\0');
  for (const std::int32_t n : {1, 1, 1}) put(n);  // a duration; a piece of one byte
  return all += 'a';
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string good = prefix();
  const std::vector<std::byte> image = file_of(data, size, good);
  read_or_refuse([&] {
    steno::imported_model model = steno::nemo_files::read_ggml("input", image, nullptr);
    steno::add_tensors(model, {});
    (void)model.file.bytes();
  });
  return 0;
}
