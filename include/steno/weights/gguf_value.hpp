// steno/weights/gguf_value.hpp - one key-value pair of a GGUF file: type tag and raw bytes, decoded on request.
//
// Nothing is copied at load; the reader has walked every value once, so decoding needs no further checks of bounds.
// Tested in tests/weights/gguf_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/gguf_format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

namespace detail {
template <class T>
constexpr gguf_type gguf_type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return gguf_type::boolean;
  else if constexpr (std::is_same_v<T, float>)
    return gguf_type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return gguf_type::f64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return gguf_type::u8;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return gguf_type::i8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return gguf_type::u16;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return gguf_type::i16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return gguf_type::u32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return gguf_type::i32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return gguf_type::u64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return gguf_type::i64;
  else
    static_assert(!sizeof(T), "not a type of the GGUF container");
}

// Calls f with a value of the C++ type that stands for a number type `t`; false for strings and arrays.
template <class F>
bool with_number_type(gguf_type t, F&& f) {
  switch (t) {
    case gguf_type::u8:
      return f(std::uint8_t{}), true;
    case gguf_type::i8:
      return f(std::int8_t{}), true;
    case gguf_type::u16:
      return f(std::uint16_t{}), true;
    case gguf_type::i16:
      return f(std::int16_t{}), true;
    case gguf_type::u32:
      return f(std::uint32_t{}), true;
    case gguf_type::i32:
      return f(std::int32_t{}), true;
    case gguf_type::f32:
      return f(float{}), true;
    case gguf_type::boolean:
      return f(bool{}), true;
    case gguf_type::u64:
      return f(std::uint64_t{}), true;
    case gguf_type::i64:
      return f(std::int64_t{}), true;
    case gguf_type::f64:
      return f(double{}), true;
    default:
      return false;
  }
}
template <class T>
T load_number(const std::byte* p) noexcept {
  if constexpr (std::is_same_v<T, bool>)
    return *p != std::byte{0};  // any non-zero byte is true
  else
    return load_as<T>(p);
}
}  // namespace detail

/// The strings of an array where they lie in a file: a range of std::string_view, valid as long as the file. A
/// vocabulary of 150,000 tokens takes 5 MB as strings of their own. There are always as many as it says, each within
/// its bytes, even if somebody writes into a mapped file meanwhile; then they are other strings.
class stored_strings {
 public:
  /// Points at one of them.
  class iterator {
   public:
    /// At the first of `count` lengths and strings.
    iterator(std::span<const std::byte> bytes, std::size_t count) noexcept : rest_(bytes), count_(count) {}
    std::string_view operator*() const noexcept {  ///< the string
      const std::size_t skipped = std::min(rest_.size(), sizeof(std::uint64_t));
      return {reinterpret_cast<const char*>(rest_.data() + skipped), size()};
    }
    iterator& operator++() noexcept {  ///< on to the next
      rest_ = rest_.subspan(std::min(rest_.size(), sizeof(std::uint64_t)) + size());
      --count_;
      return *this;
    }
    bool operator==(const iterator& other) const noexcept {  ///< whether as many are left
      return count_ == other.count_;
    }

   private:
    std::size_t size() const noexcept {
      if (rest_.size() < sizeof(std::uint64_t)) return 0;
      const std::uint64_t left = rest_.size() - sizeof(std::uint64_t);
      return static_cast<std::size_t>(std::min(left, load_as<std::uint64_t>(rest_.data())));
    }

    std::span<const std::byte> rest_;
    std::size_t count_;
  };

  /// None.
  stored_strings() = default;
  /// `count` lengths and strings back to back, which fill `bytes`.
  stored_strings(std::span<const std::byte> bytes, std::size_t count) noexcept : bytes_(bytes), count_(count) {}

  std::span<const std::byte> bytes() const noexcept { return bytes_; }  ///< lengths and strings
  std::size_t size() const noexcept { return count_; }                  ///< how many there are
  bool empty() const noexcept { return count_ == 0; }                   ///< whether there are none
  iterator begin() const noexcept { return iterator(bytes_, count_); }  ///< at the first
  iterator end() const noexcept { return iterator({}, 0); }             ///< behind the last
  STENO_COLD std::vector<std::string> copy() const {                    ///< strings of their own
    std::vector<std::string> all;
    all.reserve(count_);
    for (const std::string_view s : *this) all.emplace_back(s);
    return all;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t count_ = 0;
};

/// A key and its value. Refers to the file's bytes.
struct gguf_value {
  std::string_view key;               ///< as stored: "general.architecture", ...
  gguf_type type = gguf_type::u8;     ///< of the value; for an array `element` is that of its elements
  gguf_type element = gguf_type::u8;  ///< equals `type` when this is no array
  std::size_t count = 1;              ///< number of elements; 1 when this is no array
  /// A number's bytes; a string's bytes without its length; an array's elements back to back (strings with lengths).
  std::span<const std::byte> raw;

  /// Whether it is an array, of numbers or of strings; arrays of arrays are refused at load.
  bool is_array() const noexcept { return type == gguf_type::array; }

  /// A number (bool: 0 or 1), rounded to double when it is a 64-bit integer above 2^53; nothing for other types.
  STENO_COLD std::optional<double> number() const {
    std::optional<double> result;
    detail::with_number_type(type, [&](auto sample) { result = as_double(load<decltype(sample)>(0)); });
    return result;
  }
  /// A string; nothing for other types.
  std::optional<std::string_view> text() const {
    if (type != gguf_type::string) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  /// The scalar, when it is stored as exactly T (bool, float, double, std::int32_t, ...).
  template <class T>
  std::optional<T> get() const {
    if (type != detail::gguf_type_of<T>()) return std::nullopt;
    return load<T>(0);
  }
  /// The elements of an array stored as exactly T; nothing for other types.
  template <class T>
  std::optional<std::vector<T>> array_of() const {
    if (!is_array() || element != detail::gguf_type_of<T>()) return std::nullopt;
    std::vector<T> result;
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back(load<T>(i));
    return result;
  }
  /// The elements of an array of any number type; nothing for strings and scalars.
  STENO_COLD std::optional<std::vector<double>> numbers() const {
    std::optional<std::vector<double>> result;
    if (!is_array()) return result;
    detail::with_number_type(element, [&](auto sample) {
      result.emplace().reserve(count);
      for (std::size_t i = 0; i < count; ++i) result->push_back(as_double(load<decltype(sample)>(i)));
    });
    return result;
  }
  /// The elements of an array of strings, not copied; nothing for other types.
  std::optional<stored_strings> string_views() const noexcept {
    if (!is_array() || element != gguf_type::string) return std::nullopt;
    return stored_strings(raw, count);
  }
  /// The same, copied.
  STENO_COLD std::optional<std::vector<std::string>> strings() const {
    const auto stored = string_views();
    return stored ? std::optional(stored->copy()) : std::nullopt;
  }
  /// "u32", "array of string": for messages.
  STENO_COLD std::string type_text() const {
    return is_array() ? "array of " + std::string(name_of(element)) : std::string(name_of(type));
  }

 private:
  template <class T>
  T load(std::size_t i) const noexcept {
    return detail::load_number<T>(raw.data() + i * sizeof(T));
  }
  template <class T>
  static double as_double(T v) noexcept {
    if constexpr (std::is_same_v<T, bool>)
      return v ? 1 : 0;
    else
      return static_cast<double>(v);
  }
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
