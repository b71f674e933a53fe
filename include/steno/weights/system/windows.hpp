// steno/weights/system/windows.hpp - system.hpp's functions for Windows.
//
// <windows.h> is not included: its macros would reach every program that includes steno. The few functions are declared
// as it declares them, so that both may meet in one unit; files go through the C runtime where that suffices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <sys/stat.h>
#include <wchar.h>
#include <steno/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

struct _SECURITY_ATTRIBUTES;
extern "C" {
__declspec(dllimport) int __stdcall CloseHandle(void*);
__declspec(dllimport) void* __stdcall CreateFileMappingW(void*, _SECURITY_ATTRIBUTES*, unsigned long, unsigned long,
                                                         unsigned long, const wchar_t*);
__declspec(dllimport) unsigned long __stdcall GetFileAttributesW(const wchar_t*);
__declspec(dllimport) unsigned long __stdcall GetFinalPathNameByHandleW(void*, wchar_t*, unsigned long, unsigned long);
__declspec(dllimport) unsigned long __stdcall GetFullPathNameW(const wchar_t*, unsigned long, wchar_t*, wchar_t**);
__declspec(dllimport) unsigned long __stdcall GetLastError();
__declspec(dllimport) void* __stdcall MapViewOfFile(void*, unsigned long, unsigned long, unsigned long, std::size_t);
__declspec(dllimport) int __stdcall MoveFileExW(const wchar_t*, const wchar_t*, unsigned long);
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned, unsigned long, const char*, int, wchar_t*, int);
__declspec(dllimport) int __stdcall UnmapViewOfFile(const void*);
__declspec(dllimport) void* __stdcall VirtualAlloc(void*, std::size_t, unsigned long, unsigned long);
__declspec(dllimport) int __stdcall VirtualFree(void*, std::size_t, unsigned long);
__declspec(dllimport) int __stdcall VirtualUnlock(void*, std::size_t);
}

namespace steno {
inline namespace STENO_ABI {
namespace weights::system {

namespace detail {
inline constexpr unsigned long commit = 0x1000, reserve = 0x2000, decommit = 0x4000, release = 0x8000;
inline constexpr unsigned long page_readonly = 2, page_readwrite = 4, file_map_read = 4, out_of_memory = 8;
inline constexpr std::size_t page = 4096;

/// errno as the C runtime would set it for the system's last error.
inline void keep_reason() noexcept {
  switch (::GetLastError()) {
    case 2:  // no such file
    case 3:  // or folder
      errno = ENOENT;
      break;
    case 5:     // access denied
    case 32:    // open elsewhere
    case 33:    // locked
    case 1224:  // mapped
      errno = EACCES;
      break;
    case out_of_memory:
    case 1132:  // no address space
    case 1455:  // the paging file is too small
      errno = ENOMEM;
      break;
    case 112:
      errno = ENOSPC;
      break;
    default:
      errno = EIO;
  }
}
/// The whole pages inside `part`: their start, and how many bytes.
inline std::span<std::byte> whole_pages(std::span<const std::byte> part) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (from + page - 1) / page * page, last = (from + part.size()) / page * page;
  if (first >= last) return {};
  return {reinterpret_cast<std::byte*>(first), static_cast<std::size_t>(last - first)};
}
}  // namespace detail

STENO_COLD inline std::string reason() { return std::generic_category().message(errno); }
inline bool is_out_of_memory() noexcept { return errno == ENOMEM; }

/// A path in UTF-8 as the system wants it; one that is longer than its old limit of 260 gets the prefix that lifts
/// this. Throws steno::error when it is no UTF-8.
STENO_COLD inline std::wstring wide(const std::string& path) {
  constexpr unsigned utf8 = 65001, no_invalid = 8;
  const int size = static_cast<int>(path.size());
  const int count = path.size() > 32767 ? 0 : ::MultiByteToWideChar(utf8, no_invalid, path.data(), size, nullptr, 0);
  if (count == 0 && size != 0) fail({.where = path, .what = "the file's name is too long or no UTF-8"});
  std::wstring name(static_cast<std::size_t>(count), L'\0');
  ::MultiByteToWideChar(utf8, no_invalid, path.data(), size, name.data(), count);
  if (name.size() < 240 || name.starts_with(LR"(\\?\)")) return name;
  std::wstring whole(::GetFullPathNameW(name.c_str(), 0, nullptr, nullptr), L'\0');
  whole.resize(::GetFullPathNameW(name.c_str(), static_cast<unsigned long>(whole.size()), whole.data(), nullptr));
  if (whole.starts_with(LR"(\\)")) return LR"(\\?\UNC\)" + whole.substr(2);
  return LR"(\\?\)" + whole;
}

/// The file behind a link, or `name` where it is none; empty when it cannot be had.
STENO_COLD inline std::wstring behind_links(const std::wstring& name) {
  constexpr unsigned long unknown = ~0ul, link = 0x400;
  const unsigned long attributes = ::GetFileAttributesW(name.c_str());
  if (attributes == unknown) return {};
  if ((attributes & link) == 0) return name;
  int file = -1;
  if (::_wsopen_s(&file, name.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT, _SH_DENYNO, 0) != 0) return {};
  void* const handle = reinterpret_cast<void*>(::_get_osfhandle(file));
  std::wstring whole(::GetFinalPathNameByHandleW(handle, nullptr, 0, 0), L'\0');
  whole.resize(::GetFinalPathNameByHandleW(handle, whole.data(), static_cast<unsigned long>(whole.size()), 0));
  ::_close(file);
  return whole;
}

inline constexpr bool untouched_is_free = true;
inline std::byte* new_pages(std::size_t bytes) noexcept {
  void* const p = ::VirtualAlloc(nullptr, bytes, detail::commit | detail::reserve, detail::page_readwrite);
  if (p == nullptr) detail::keep_reason();
  return static_cast<std::byte*>(p);
}
inline void free_pages(std::byte* start, std::size_t) noexcept { ::VirtualFree(start, 0, detail::release); }
inline void unmap(const std::byte* start, std::size_t) noexcept { ::UnmapViewOfFile(start); }

/// Pages that are not locked leave the working set when they are unlocked.
inline void release_mapped(std::span<const std::byte> part) noexcept {
  const std::span<std::byte> pages = detail::whole_pages(part);
  if (!pages.empty()) ::VirtualUnlock(pages.data(), pages.size());
}
inline void release_new(std::span<const std::byte> part) noexcept {
  const std::span<std::byte> pages = detail::whole_pages(part);
  if (pages.empty() || ::VirtualFree(pages.data(), pages.size(), detail::decommit) == 0) return;
  ::VirtualAlloc(pages.data(), pages.size(), detail::commit, detail::page_readwrite);
}

/// A regular file, open for reading. Not copyable.
class source_file {
 public:
  /// Opens `path`; throws steno::error that says what is wrong with it.
  // Delegates: the destructor closes the file when a check throws.
  STENO_ON_CALL STENO_COLD explicit source_file(const std::string& path) : source_file(opened(path)) {
    struct ::_stat64 facts {};
    if (::_fstat64(file_, &facts) != 0) fail({.where = path, .what = "cannot read the file's size: " + reason()});
    if ((facts.st_mode & _S_IFMT) != _S_IFREG)
      fail({.where = path, .what = "is not a regular file and cannot be mapped"});
    if (facts.st_size <= 0) fail({.where = path, .what = "the file is empty"});
    size_ = static_cast<std::size_t>(facts.st_size);
  }
  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;
  ~source_file() { ::_close(file_); }

  std::size_t size() const noexcept { return size_; }  ///< bytes
  /// All of it as read-only memory, which unmap() gives back; nullptr when the system refuses: reason() says why.
  const std::byte* map() const noexcept {
    void* const file = reinterpret_cast<void*>(::_get_osfhandle(file_));
    void* const mapping = ::CreateFileMappingW(file, nullptr, detail::page_readonly, 0, 0, nullptr);
    if (mapping == nullptr) return detail::keep_reason(), nullptr;
    const void* const p = ::MapViewOfFile(mapping, detail::file_map_read, 0, 0, 0);
    if (p == nullptr) detail::keep_reason();
    ::CloseHandle(mapping);  // the view holds it
    return static_cast<const std::byte*>(p);
  }
  /// Reads up to `bytes` from place `at`. Returns how many, 0 at the end, -1 for a failure: reason() says why.
  std::ptrdiff_t read(std::byte* to, std::size_t bytes, std::size_t at) const noexcept {
    if (::_lseeki64(file_, static_cast<std::int64_t>(at), 0) < 0) return -1;
    return ::_read(file_, to, static_cast<unsigned>(bytes));
  }

 private:
  explicit source_file(int file) noexcept : file_(file) {}
  STENO_COLD static int opened(const std::string& path) {
    const std::wstring name = wide(path);
    struct ::_stat64 facts {};
    if (::_wstat64(name.c_str(), &facts) == 0 && (facts.st_mode & _S_IFMT) == _S_IFDIR)
      fail({.where = path, .what = "is a directory, not a file"});
    int file = -1;
    errno = ::_wsopen_s(&file, name.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT, _SH_DENYNO, 0);
    if (errno != 0) fail({.where = path, .what = "cannot open the file: " + reason()});
    return file;
  }

  int file_;
  std::size_t size_ = 0;
};

}  // namespace weights::system
}  // namespace STENO_ABI
}  // namespace steno
#endif
