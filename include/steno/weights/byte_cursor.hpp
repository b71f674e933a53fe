// steno/weights/byte_cursor.hpp - reads little-endian numbers and strings from bytes that may be hostile.
//
// Every step is compared with the bytes that remain before anything is read or allocated; an error names the file, the
// byte offset and what was being read. Also the checked arithmetic and the quoting that parsers share.
// Tested in tests/weights/gguf_test.cpp (damaged files) and tests/fuzz.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// result = a * b; false when it does not fit.
[[nodiscard]] constexpr bool checked_multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& result) {
  result = a * b;
  return a == 0 || b <= std::numeric_limits<std::uint64_t>::max() / a;
}
/// result = a + b; false when it does not fit.
[[nodiscard]] constexpr bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t& result) {
  result = a + b;
  return result >= a;
}
/// result = n rounded up to a multiple of `step` (not 0); false when it does not fit.
[[nodiscard]] constexpr bool checked_round_up(std::uint64_t n, std::uint64_t step, std::uint64_t& result) {
  const std::uint64_t rest = n % step;
  return checked_add(n, rest == 0 ? 0 : step - rest, result);
}

/// A name from a file as it may stand in a one-line message: in quotes, printable(), cut after 80 bytes.
STENO_ON_CALL STENO_COLD inline std::string quoted(std::string_view name) {
  std::size_t length = 80;  // no character is cut in two
  while (length > 76 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xc0u) == 0x80u) --length;
  return std::string("\"")
      .append(core::printable(name.substr(0, length)))
      .append(name.size() > length ? "...\"" : "\"");
}

/// A number as it stands in messages: 16000, 0.5, 1e+300, nan.
STENO_ON_CALL STENO_COLD inline std::string number_text(double v) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.10g", v);
  return digits;
}

/// A value of T at `p`, which need not be aligned.
template <class T>
T load_as(const void* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// A position in bytes. `where` (the file's name) and the bytes must outlive it.
class byte_cursor {
 public:
  /// Begins at the first of `bytes`; `where` stands in messages.
  byte_cursor(std::string_view where, std::span<const std::byte> bytes) : where_(where), bytes_(bytes) {}

  std::size_t position() const noexcept { return position_; }                   ///< bytes from the start
  std::size_t remaining() const noexcept { return bytes_.size() - position_; }  ///< bytes from here to the end

  /// The next `size` bytes; `what` names them in the error when the file ends before.
  STENO_ON_CALL STENO_COLD std::span<const std::byte> take(std::uint64_t size, const char* what) {
    if (size > remaining())
      stop(std::string(what) + " runs beyond the end of the file", std::to_string(size) + " bytes",
           std::to_string(remaining()) + " bytes");
    const auto part = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return part;
  }
  /// The next number of type T.
  template <class T>
  T number(const char* what) {
    return load_as<T>(take(sizeof(T), what).data());
  }
  /// u64 length (up to `limit`) and that many bytes.
  STENO_ON_CALL STENO_COLD std::string_view string(std::uint64_t limit, const char* what) {
    std::uint64_t size;
    if (remaining() < sizeof size) take(sizeof size, what);
    std::memcpy(&size, bytes_.data() + position_, sizeof size);
    limit = std::min<std::uint64_t>(limit, remaining() - sizeof size);
    if (size > limit)
      stop("length of " + std::string(what) + " is too large", "up to " + std::to_string(limit), std::to_string(size));
    const auto* const first = reinterpret_cast<const char*>(bytes_.data() + position_ + sizeof size);
    position_ += sizeof size + static_cast<std::size_t>(size);
    return {first, static_cast<std::size_t>(size)};
  }

  /// Throws steno::error about the present position: the name and the byte offset stand in front of `what`.
  [[noreturn]] STENO_COLD void stop(std::string what, std::string expected = {}, std::string found = {},
                                    std::string hint = {}) {
    fail({.where = std::string(where_),
          .what = "byte " + std::to_string(position_) + ": " + std::move(what),
          .expected = std::move(expected),
          .found = std::move(found),
          .hint = std::move(hint)});
  }

 private:
  std::string_view where_;
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
