// steno/weights/system/posix.hpp - system.hpp's functions for Linux, macOS and other POSIX systems.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <steno/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <system_error>

namespace steno {
inline namespace STENO_ABI {
namespace weights::system {

STENO_COLD inline std::string reason() { return std::generic_category().message(errno); }
inline bool is_out_of_memory() noexcept { return errno == ENOMEM; }

inline std::byte* map_pages(std::size_t bytes) noexcept {
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}
#if defined(__linux__)
inline constexpr bool untouched_is_free = true;
/// A large piece begins where a huge page does, and is made of such.
inline std::byte* new_pages(std::size_t bytes) noexcept {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const bool large = bytes >= huge && bytes <= std::numeric_limits<std::size_t>::max() - 2 * huge;
  std::byte* const wide = large ? map_pages(bytes + huge) : nullptr;
  if (wide == nullptr) return map_pages(bytes);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = (huge - reinterpret_cast<std::uintptr_t>(wide) % huge) % huge;
  const std::size_t end = (before + bytes + page - 1) / page * page;
  if (before != 0) ::munmap(wide, before);
  if (end < bytes + huge) ::munmap(wide + end, bytes + huge - end);
  ::madvise(wide + before, bytes, MADV_HUGEPAGE);
  return wide + before;
}
#else
inline constexpr bool untouched_is_free = false;  // WebAssembly writes zeros
inline std::byte* new_pages(std::size_t bytes) noexcept { return map_pages(bytes); }
#endif
inline void free_pages(std::byte* start, std::size_t bytes) noexcept { ::munmap(start, bytes); }
inline void unmap(const std::byte* start, std::size_t bytes) noexcept {
  ::munmap(const_cast<std::byte*>(start), bytes);
}

/// Both kinds of pages alike.
inline void release_mapped(std::span<const std::byte> part) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (from + page - 1) / page * page, last = (from + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}
inline void release_new(std::span<const std::byte> part) noexcept { release_mapped(part); }

/// A regular file, open for reading. Not copyable.
class source_file {
 public:
  /// Opens `path`; throws steno::error that says what is wrong with it.
  // Delegates: the destructor closes the file when a check throws.
  STENO_ON_CALL STENO_COLD explicit source_file(const std::string& path) : source_file(opened(path)) {
    struct ::stat facts {};
    if (::fstat(file_, &facts) != 0) fail({.where = path, .what = "cannot read the file's size: " + reason()});
    if (S_ISDIR(facts.st_mode)) fail({.where = path, .what = "is a directory, not a file"});
    if (!S_ISREG(facts.st_mode)) fail({.where = path, .what = "is not a regular file and cannot be mapped"});
    if (facts.st_size <= 0) fail({.where = path, .what = "the file is empty"});
    if (static_cast<std::uintmax_t>(facts.st_size) > PTRDIFF_MAX)
      fail({.where = path, .what = "the file is larger than the address space"});
    size_ = static_cast<std::size_t>(facts.st_size);
  }
  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;
  ~source_file() { ::close(file_); }

  std::size_t size() const noexcept { return size_; }  ///< bytes
  /// All of it as read-only memory, which unmap() gives back; nullptr when the system refuses: reason() says why.
  const std::byte* map() const noexcept {
    void* const p = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
    return p == MAP_FAILED ? nullptr : static_cast<const std::byte*>(p);
  }
  /// Reads up to `bytes` from place `at`. Returns how many, 0 at the end, -1 for a failure: reason() says why.
  std::ptrdiff_t read(std::byte* to, std::size_t bytes, std::size_t at) const noexcept {
    ::ssize_t n = 0;
    do n = ::pread(file_, to, bytes, static_cast<::off_t>(at));
    while (n < 0 && errno == EINTR);
    return n;
  }

 private:
  explicit source_file(int file) noexcept : file_(file) {}
  STENO_COLD static int opened(const std::string& path) {
    // O_NONBLOCK: opening a named pipe must fail above instead of waiting for a writer.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) fail({.where = path, .what = "cannot open the file: " + reason()});
    return file;
  }

  int file_;
  std::size_t size_ = 0;
};

}  // namespace weights::system
}  // namespace STENO_ABI
}  // namespace steno
#endif
