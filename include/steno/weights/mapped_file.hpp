// steno/weights/mapped_file.hpp - a whole file as read-only memory; pages come and go as they are used.
//
// The mapping is private and never written. Pages of tensors that were packed for the kernels can be given back to the
// system, so weights are not resident twice. As with every mapping, a file that is cut or overwritten while it is open
// takes its bytes along (SIGBUS, or other weights); one that is renamed over or removed does not (Windows refuses both
// while it is mapped). Whoever cannot rule that out reads a copy: file_reading::copied. What is converted while it is
// opened is a file in memory alone, with the same rules. Tested in tests/weights/mapped_file_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/weights/system/system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// How a file becomes memory: its own pages, shared and loaded as they are needed, or a copy that no change of the file
/// reaches, which is resident as a whole.
enum class file_reading { mapped, copied };

/// Owns a read-only mapping of one regular file. Move-only; the bytes stay where they are when it moves.
/// Any number of threads may read; release() is safe beside readers (they fault the page in again).
class mapped_file {
 public:
  mapped_file() = default;  ///< no file, no bytes

  /// Maps `path`. Throws steno::error when it is missing, unreadable, empty, a directory or otherwise not a regular
  /// file, and when it is a git-LFS pointer instead of the file itself; core::out_of_memory when there is no memory or
  /// address space for it.
  STENO_ON_CALL STENO_COLD explicit mapped_file(std::string path, file_reading how = file_reading::mapped)
      : path_(std::move(path)), copied_(how == file_reading::copied) {
    const system::source_file file(path_);
    own(copied_ ? system::new_pages(file.size()) : file.map(), file.size());
    if (copied_) copy(file, const_cast<std::byte*>(start_));
    if (begins_with("version https://git-lfs")) {
      unmap();
      fail({.where = path_, .what = "a git-LFS pointer, not the file itself", .hint = "run git lfs pull"});
    }
  }

  /// A file in memory alone, on huge pages where the system has them: fill(std::span<std::byte>) gets `size` zeros, and
  /// what it leaves there are the bytes. It counts as a copy. `path` stands in messages. Throws core::out_of_memory and
  /// what `fill` throws.
  template <class Fill>
  requires std::is_invocable_v<Fill&, std::span<std::byte>> STENO_COLD mapped_file(std::string path, std::size_t size,
                                                                                   Fill&& fill)
      : mapped_file() {
    path_ = std::move(path);
    copied_ = true;
    own(system::new_pages(size), size);
    fill(std::span(const_cast<std::byte*>(start_), size_));
  }

  mapped_file(mapped_file&& other) noexcept { swap(other); }
  mapped_file& operator=(mapped_file&& other) noexcept {
    mapped_file(std::move(other)).swap(*this);
    return *this;
  }
  ~mapped_file() { unmap(); }

  std::span<const std::byte> bytes() const noexcept { return {start_, size_}; }  ///< the whole file; empty without one
  const std::string& path() const noexcept { return path_; }                     ///< as given to the constructor
  bool copied() const noexcept { return copied_; }  ///< whether this is a copy that no change of the file reaches
  /// Whether `part` is a piece of bytes().
  STENO_ON_CALL bool holds(std::span<const std::byte> part) const noexcept {
    const auto base = reinterpret_cast<std::uintptr_t>(start_);
    const auto from = reinterpret_cast<std::uintptr_t>(part.data());
    return start_ != nullptr && from >= base && from - base <= size_ && part.size() <= size_ - (from - base);
  }

  /// Gives the whole pages inside `part` (a piece of bytes()) back to the system; reading them again loads them from
  /// the file, but gives zeros in a copy. Does nothing when `part` covers no whole page or lies elsewhere.
  STENO_ON_CALL void release(std::span<const std::byte> part) const noexcept {
    if (holds(part)) copied_ ? system::release_new(part) : system::release_mapped(part);
  }

 private:
  bool begins_with(std::string_view text) const {
    return std::string_view(reinterpret_cast<const char*>(start_), size_).starts_with(text);
  }
  STENO_ON_CALL STENO_COLD void own(const std::byte* start, std::size_t size) {
    if (start == nullptr) {
      core::fault why{.where = path_, .what = "cannot map the file into memory: " + system::reason()};
      if (system::is_out_of_memory()) throw core::out_of_memory(std::move(why));
      fail(std::move(why));
    }
    start_ = start;
    size_ = size;
  }
  STENO_ON_CALL STENO_COLD void copy(const system::source_file& file, std::byte* to) {
    for (std::size_t done = 0; done < size_;) {
      const std::ptrdiff_t n = file.read(to + done, std::min(size_ - done, std::size_t{1} << 30), done);
      if (n <= 0) {
        const std::string why = n < 0 ? system::reason() : "it became shorter meanwhile";
        unmap();
        fail({.where = path_, .what = "cannot read the file: " + why});
      }
      done += static_cast<std::size_t>(n);
    }
  }
  void unmap() noexcept {
    if (start_ != nullptr && copied_) system::free_pages(const_cast<std::byte*>(start_), size_);
    if (start_ != nullptr && !copied_) system::unmap(start_, size_);
    start_ = nullptr;
    size_ = 0;
  }
  void swap(mapped_file& other) noexcept {
    path_.swap(other.path_);
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    std::swap(copied_, other.copied_);
  }

  std::string path_;
  const std::byte* start_ = nullptr;
  std::size_t size_ = 0;
  bool copied_ = false;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
