// Replaces the program's allocation functions by ones that count. A library of its own: programs that never ask for the
// number do not link it.
// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#if defined(_WIN32)
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STENO_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define STENO_TEST_SANITIZED
#endif
#endif

namespace {
std::atomic<std::size_t> count{0}, failing{0};
// False when this one is to fail.
bool counted() noexcept {
  return count.fetch_add(1, std::memory_order_relaxed) + 1 != failing.load(std::memory_order_relaxed);
}
}  // namespace

namespace steno::test {
std::size_t allocations() noexcept { return count.load(std::memory_order_relaxed); }
void fail_allocation(std::size_t n) noexcept { failing.store(n == 0 ? 0 : allocations() + n); }
}  // namespace steno::test

#if defined(__GLIBC__) && !defined(STENO_TEST_SANITIZED)

namespace {
void* nothing() noexcept {
  errno = ENOMEM;
  return nullptr;
}
}  // namespace

// operator new of libstdc++ calls these, so nothing is counted twice.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  if (!counted()) return nothing();
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  if (!counted()) return nothing();
  return __libc_calloc(n, size);
}
void* realloc(void* old, std::size_t size) {
  if (!counted()) return nothing();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  if (!counted()) return nothing();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!counted()) return nothing();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  *result = counted() ? __libc_memalign(alignment, size) : nullptr;
  return *result == nullptr ? ENOMEM : 0;
}
}

#else

namespace {
void* take(std::size_t size, std::size_t alignment) {
  if (!counted()) throw std::bad_alloc();
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  size = (size + alignment) / alignment * alignment;  // a multiple, and not 0
#if defined(_WIN32)
  if (void* p = ::_aligned_malloc(size, alignment)) return p;
#else
  if (void* p = std::aligned_alloc(alignment, size)) return p;
#endif
  throw std::bad_alloc();
}
void give_back(void* p) noexcept {
#if defined(_WIN32)
  ::_aligned_free(p);
#else
  std::free(p);
#endif
}
constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}  // namespace

void* operator new(std::size_t size) { return take(size, usual); }
void* operator new[](std::size_t size) { return take(size, usual); }
void* operator new(std::size_t size, std::align_val_t a) { return take(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take(size, static_cast<std::size_t>(a)); }
// std::stable_sort asks this way.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept try { return take(size, usual); } catch (...) {
  return nullptr;
}
void* operator new[](std::size_t size, const std::nothrow_t& n) noexcept { return operator new(size, n); }
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept try {
  return take(size, static_cast<std::size_t>(a));
} catch (...) {
  return nullptr;
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }

#endif
