// steno/weights/storage.hpp - memory a model owns beside its file: packed products and converted tensors.
//
// Pieces are never moved or freed singly. Large ones come straight from the system, on huge pages where it has them.
// Not thread-safe. Tested in tests/weights/binder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/weights/system/system.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Owns memory for weights until it is destroyed. Movable; pieces stay where they are when it moves. Not thread-safe.
class storage {
 public:
  storage() = default;
  storage(storage&& other) noexcept
      : pieces_(std::exchange(other.pieces_, {})),
        at_(std::exchange(other.at_, nullptr)),
        left_(std::exchange(other.left_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  storage& operator=(storage&& other) noexcept {
    std::swap(pieces_, other.pieces_);
    std::swap(at_, other.at_);
    std::swap(left_, other.left_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~storage() {
    for (const piece& p : pieces_) system::free_pages(p.data, p.size);
  }

  /// `bytes` zeroed bytes, 64-byte aligned, that live as long as this object. Throws core::out_of_memory.
  STENO_COLD std::byte* allocate(std::size_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    if (bytes > left_) {
      const std::size_t chunk = std::clamp(std::bit_ceil(size_ / 2), smallest_chunk, largest_chunk);
      std::byte* const fresh = bytes < chunk / 2 ? map(chunk) : nullptr;
      if (fresh == nullptr) return mapped(bytes);
      at_ = fresh;
      left_ = chunk;
    }
    left_ -= bytes;
    return std::exchange(at_, at_ + bytes);
  }
  /// Bytes held.
  std::size_t size() const noexcept { return size_; }

 private:
  // Chunks grow with the model: page by page, the kernel would take longer to give memory than the loader to fill it,
  // and weights of two or three MB each would lie on small pages, where a prompt takes up to 1.4 times as long.
  static constexpr std::size_t smallest_chunk = std::size_t{1} << 20;
  static constexpr std::size_t largest_chunk = std::size_t{system::untouched_is_free ? 64 : 2} << 20;
  struct piece {
    std::byte* data;
    std::size_t size;
  };
  /// New pages, or nullptr. Room for their note is made before: without memory for it, no pages are lost.
  STENO_ON_CALL STENO_COLD std::byte* map(std::size_t bytes) {
    if (pieces_.size() == pieces_.capacity()) pieces_.reserve(2 * pieces_.size() + 8);
    std::byte* const p = system::new_pages(bytes);
    if (p == nullptr) return nullptr;
    pieces_.push_back({p, bytes});
    size_ += bytes;
    return p;
  }
  STENO_COLD std::byte* mapped(std::size_t bytes) {
    if (std::byte* const p = map(bytes); p != nullptr) return p;
    throw core::out_of_memory({.what = "out of memory for weights", .expected = std::to_string(bytes) + " bytes"});
  }
  std::vector<piece> pieces_;
  std::byte* at_ = nullptr;
  std::size_t left_ = 0, size_ = 0;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
