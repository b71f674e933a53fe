// tests/fuzz/fuzz.hpp - what all harnesses share.
#pragma once
#include <steno/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace steno_fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// read() may refuse its input, with a steno::error of one line.
template <class F>
void read_or_refuse(F&& read) {
  try {
    read();
  } catch (const steno::error& e) {
    require(std::string_view(e.what()).find('\n') == std::string_view::npos);
  }
}

/// The bytes behind the first one: a whole file where that is 0, else what follows `good`, which a fuzzer would hardly
/// find. An exact copy, so that a sanitizer sees the first byte behind it.
inline std::vector<std::byte> file_of(const std::uint8_t* data, std::size_t size, const std::string& good) {
  std::vector<std::byte> all;
  const auto put = [&](const void* from, std::size_t n) {
    all.insert(all.end(), static_cast<const std::byte*>(from), static_cast<const std::byte*>(from) + n);
  };
  if (data[0] != 0) put(good.data(), good.size());
  put(data + 1, size - 1);
  return {all.begin(), all.end()};
}

}  // namespace steno_fuzz
