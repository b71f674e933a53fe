// whisper.cpp's .bin files: any bytes are refused with steno::error. Behind a first byte 0 stands a whole file, behind
// any other the tensors of a file whose header and tokens are right.
#include <steno/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "package.hpp"
#include "whisper/whisper.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}

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
  std::string bytes = data[0] == 0 ? std::string() : good;
  bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  // An exact copy, so that a sanitizer sees the first byte behind it.
  const std::vector<std::byte> image(reinterpret_cast<const std::byte*>(bytes.data()),
                                     reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
  try {
    steno::imported_model model = steno::whisper_files::read_ggml("input", image, nullptr);
    steno::add_tensors(model, {});
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
