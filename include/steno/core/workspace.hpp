// steno/core/workspace.hpp - scratch memory of one forward pass: an arena with frames.
//
// A function opens a frame, takes views from it and gives everything back when the frame closes. The peak is the
// deepest call chain, not the sum of all buffers. Memory grows while the first pass runs; when its outermost frame
// closes the pieces are joined, so an equal pass afterwards allocates nothing. When memory is out, or more than the
// caller's limit, take() throws core::out_of_memory; the pass is lost, the workspace serves the next one. One workspace
// serves one thread at a time. Tested in tests/core/workspace_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// Arena for the intermediate tensors of a forward pass. Movable while no frame is open; one thread at a time.
class workspace {
 public:
  static constexpr std::size_t alignment = 64;  ///< of every piece that is taken, in bytes

  workspace() = default;
  /// Reserves `bytes` at once; throws core::out_of_memory when they are not to be had.
  explicit workspace(std::size_t bytes) { reserve(bytes); }
  workspace(workspace&& other) noexcept { swap(other); }
  workspace& operator=(workspace&& other) noexcept {
    workspace(std::move(other)).swap(*this);
    return *this;
  }
  ~workspace() { clear(); }

  /// Makes at least `bytes` available in one piece; throws core::out_of_memory when they are not to be had. Only
  /// outside of any frame.
  void reserve(std::size_t bytes) {
    if (depth_ == 0 && capacity() < bytes) {
      clear();
      add(bytes);
    }
  }
  /// From now on no more than so many bytes are held: a pass that needs more throws core::out_of_memory.
  void limit(std::size_t bytes) noexcept { limit_ = bytes; }
  /// Bytes held.
  std::size_t capacity() const noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count_; ++i) n += pieces_[i].size;
    return n;
  }
  /// The largest number of bytes that were in use at once.
  std::size_t peak() const noexcept { return peak_; }

  /// What is taken through a frame is given back when it closes. Frames close in the reverse order of their opening.
  class frame {
   public:
    /// Opens a frame of `w`, which must outlive it.
    explicit frame(workspace& w) : home_(w), piece_(w.current_), used_(w.used_), total_(w.total_) { ++home_.depth_; }
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;
    ~frame() {
      home_.current_ = piece_;
      home_.used_ = used_;
      home_.total_ = total_;
      if (--home_.depth_ == 0 && home_.count_ > 1) home_.join();
    }

    /// `count` uninitialised values, 64-byte aligned, valid until the frame closes. Throws core::out_of_memory.
    template <class T>
    T* take(std::size_t count) {
      static_assert(std::is_trivially_destructible_v<T>, "nobody destroys what lies in a workspace");
      // A count that overflowed is a large one: no number of values takes more than half of the address space.
      return static_cast<T*>(home_.bytes(count > PTRDIFF_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T)));
    }
    /// Uninitialised [rows, cols] of float.
    template <extent R = dynamic, extent C = dynamic>
    steno::view<float, R, C> matrix(extent rows, extent cols) {
      const bool fits = rows >= 0 && cols >= 0 && (cols == 0 || rows <= PTRDIFF_MAX / cols);
      return make_view<R, C>(take<float>(fits ? static_cast<std::size_t>(rows * cols) : SIZE_MAX), rows, cols);
    }

   private:
    workspace& home_;
    std::size_t piece_, used_, total_;
  };

 private:
  struct piece {
    std::byte* data = nullptr;
    std::size_t size = 0;
  };
  // Each piece is at least as large as all before it, so no more than these fit into an address space.
  static constexpr std::size_t max_pieces = 48;
  static constexpr std::size_t min_piece = std::size_t{1} << 16;

  void swap(workspace& other) noexcept {
    std::swap(pieces_, other.pieces_);
    std::swap(count_, other.count_);
    std::swap(current_, other.current_);
    std::swap(used_, other.used_);
    std::swap(total_, other.total_);
    std::swap(peak_, other.peak_);
    std::swap(limit_, other.limit_);
    std::swap(depth_, other.depth_);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i < count_; ++i) ::operator delete[](pieces_[i].data, std::align_val_t{alignment});
    count_ = current_ = used_ = total_ = 0;
  }
  // False when memory is out.
  bool try_add(std::size_t bytes) noexcept {
    if (bytes > PTRDIFF_MAX || count_ == max_pieces) return false;
    void* const p = ::operator new[](bytes, std::align_val_t{alignment}, std::nothrow);
    if (p == nullptr) return false;
    pieces_[count_++] = {static_cast<std::byte*>(p), bytes};
    return true;
  }
  // A piece of `bytes`, or where memory is short of no more than `least`.
  STENO_COLD void add(std::size_t bytes, std::size_t least) {
    const std::size_t held = capacity();
    if (least > limit_ || held > limit_ - least) refuse(least, "up to " + std::to_string(limit_) + " bytes");
    bytes = std::min(bytes, limit_ - held);
    if (!try_add(bytes) && (bytes == least || !try_add(least))) refuse(least, "memory for it");
  }
  void add(std::size_t bytes) { add(bytes, bytes); }
  [[noreturn]] STENO_COLD void refuse(std::size_t bytes, std::string expected) const {
    throw out_of_memory(
        {.what = "scratch memory of a forward pass",
         .expected = std::move(expected),
         .found = std::to_string(capacity()) + " bytes held and " +
                  (bytes > PTRDIFF_MAX ? "more than the address space" : std::to_string(bytes) + " more") + " needed",
         .hint = "shorter pieces of audio need less"});
  }

  // Every layer takes scratch: a call, where the code of this would be repeated.
  [[gnu::noinline]] void* bytes(std::size_t n) {
    if (n > PTRDIFF_MAX) refuse(n, "memory for it");
    n = std::max<std::size_t>((n + alignment - 1) / alignment * alignment, alignment);
    while (current_ < count_ && pieces_[current_].size - used_ < n) {
      ++current_;
      used_ = 0;
    }
    if (current_ == count_) add(std::max({n, capacity(), min_piece}), n);
    void* at = pieces_[current_].data + used_;
    used_ += n;
    total_ += n;
    peak_ = std::max(peak_, total_);
    return at;
  }

  // Runs in a destructor: where the joint piece cannot be had, the next pass begins with nothing and takes its own.
  STENO_COLD void join() noexcept {
    const std::size_t all = std::max(capacity(), peak_);
    clear();
    (void)try_add(all);
  }

  std::array<piece, max_pieces> pieces_{};
  std::size_t count_ = 0, current_ = 0, used_ = 0, total_ = 0, peak_ = 0, limit_ = PTRDIFF_MAX;
  int depth_ = 0;
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
