// tests/fuzz/fuzz.hpp - what all harnesses share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace steno_fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// read() may refuse its input, with a steno::error of one line that a terminal can show.
template <class F>
void read_or_refuse(F&& read) {
  try {
    read();
  } catch (const steno::error& e) {
    for (const char c : std::string_view(e.what())) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

/// A folder of its own for harnesses of readers that open files; it is removed when the program ends.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "steno-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const char* name, std::string_view text) const { std::ofstream(path_ / name, std::ios::binary) << text; }
  void clear() const {
    for (const auto& e : std::filesystem::directory_iterator(path_)) std::filesystem::remove(e.path());
  }

 private:
  std::filesystem::path path_;
};

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
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
