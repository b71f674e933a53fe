// steno/core/workspace.hpp - scratch memory of one forward pass: an arena with frames.
//
// A function opens a frame, takes views from it and gives everything back when the frame closes. The peak is the deepest
// call chain, not the sum of all buffers. Memory grows while the first pass runs; when its outermost frame closes the
// pieces are joined, so an equal pass afterwards allocates nothing. One workspace serves one thread at a time.
// Tested in tests/core/workspace_test.cpp.
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace steno::inline STENO_ABI {

class workspace {
 public:
  static constexpr std::size_t alignment = 64;

  workspace() { pieces_.reserve(32); }
  explicit workspace(std::size_t bytes) : workspace() { reserve(bytes); }
  workspace(workspace&&) noexcept = default;
  workspace& operator=(workspace&&) noexcept = default;

  /// Makes at least `bytes` available in one piece. Only outside of any frame.
  void reserve(std::size_t bytes) {
    if (depth_ == 0 && capacity() < bytes) {
      pieces_.clear();
      add(bytes);
    }
  }
  /// Bytes held.
  std::size_t capacity() const noexcept {
    std::size_t n = 0;
    for (const piece& p : pieces_) n += p.size;
    return n;
  }
  /// Most bytes that were in use at once.
  std::size_t peak() const noexcept { return peak_; }

  class frame {
   public:
    explicit frame(workspace& w) : home_(w), piece_(w.current_), used_(w.used_), total_(w.total_) { ++home_.depth_; }
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;
    ~frame() {
      home_.current_ = piece_;
      home_.used_ = used_;
      home_.total_ = total_;
      if (--home_.depth_ == 0) home_.join();
    }

    /// `count` uninitialised values, 64-byte aligned, valid until the frame closes.
    template <class T>
    T* take(std::size_t count) {
      static_assert(std::is_trivially_destructible_v<T>, "nobody destroys what lies in a workspace");
      return static_cast<T*>(home_.bytes(count * sizeof(T)));
    }
    /// Uninitialised [rows, cols] of float.
    template <extent R = dynamic, extent C = dynamic>
    steno::view<float, R, C> matrix(extent rows, extent cols) {
      return make_view<R, C>(take<float>(static_cast<std::size_t>(rows * cols)), rows, cols);
    }

   private:
    workspace& home_;
    std::size_t piece_, used_, total_;
  };

 private:
  struct release {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{alignment}); }
  };
  struct piece {
    std::unique_ptr<std::byte[], release> data;
    std::size_t size = 0;
  };

  void add(std::size_t bytes) {
    auto* p = static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{alignment}));
    pieces_.push_back({std::unique_ptr<std::byte[], release>(p), bytes});
  }

  void* bytes(std::size_t n) {
    n = std::max<std::size_t>((n + alignment - 1) / alignment * alignment, alignment);
    while (current_ < pieces_.size() && pieces_[current_].size - used_ < n) {
      ++current_;
      used_ = 0;
    }
    if (current_ == pieces_.size()) add(std::max({n, capacity(), std::size_t{1} << 16}));
    void* at = pieces_[current_].data.get() + used_;
    used_ += n;
    total_ += n;
    peak_ = std::max(peak_, total_);
    return at;
  }

  void join() {
    if (pieces_.size() < 2) return;
    const std::size_t all = std::max(capacity(), peak_);
    pieces_.clear();
    current_ = used_ = total_ = 0;
    add(all);
  }

  std::vector<piece> pieces_;
  std::size_t current_ = 0, used_ = 0, total_ = 0, peak_ = 0;
  int depth_ = 0;
};

}  // namespace steno::inline STENO_ABI
