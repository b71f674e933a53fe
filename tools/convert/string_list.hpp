// tools/convert/string_list.hpp - strings back to back, as a GGUF file keeps them: a vocabulary in one piece of memory.
// Tested in tests/convert/whisper_test.cpp and whisper_formats_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/gguf_value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

class string_list {
 public:
  string_list() = default;
  string_list(const std::vector<std::string>& all) {  // not explicit: lists of either kind are tokens
    for (const std::string& s : all) push_back(s);
  }
  /// Room for so many of `length` bytes each.
  void reserve(std::size_t count, std::size_t length) { bytes_.reserve(count * (sizeof(std::uint64_t) + length)); }
  void push_back(std::string_view s) {
    const std::uint64_t length = s.size();
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof length).append(s);
    ++size_;
  }
  std::size_t size() const noexcept { return size_; }
  /// Valid until the list is changed.
  weights::stored_strings view() const noexcept {
    return {std::as_bytes(std::span(bytes_.data(), bytes_.size())), size_};
  }

 private:
  std::string bytes_;
  std::size_t size_ = 0;
};

}  // namespace STENO_ABI
}  // namespace steno
