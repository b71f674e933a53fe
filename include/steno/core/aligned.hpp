// steno/core/aligned.hpp - vectors that begin on a cache line, for what kernels read in whole lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <new>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// Standard allocator whose memory begins on a cache line of 64 bytes. Has no state: all of them are equal.
template <class T>
struct line_allocator {
  using value_type = T;                        ///< the type of what it allocates, as containers need it
  static constexpr std::align_val_t line{64};  ///< alignment of every allocation, in bytes

  line_allocator() = default;
  /// From the allocator of another type, as containers rebind it.
  template <class U>
  line_allocator(const line_allocator<U>&) noexcept {}
  /// Memory for `n` values, none constructed; throws std::bad_alloc.
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  /// Gives memory of allocate() back.
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, line); }
  friend bool operator==(const line_allocator&, const line_allocator&) noexcept { return true; }
};

/// A std::vector whose data() is aligned to 64 bytes.
template <class T>
using line_vector = std::vector<T, line_allocator<T>>;

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
