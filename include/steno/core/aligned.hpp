// steno/core/aligned.hpp - vectors that begin on a cache line, for what kernels read in whole lines.
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <new>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, line); }
  friend bool operator==(const line_allocator&, const line_allocator&) noexcept { return true; }
};

template <class T>
using line_vector = std::vector<T, line_allocator<T>>;

}  // namespace STENO_ABI
}  // namespace steno
