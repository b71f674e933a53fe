// steno/layers/head_cache.hpp - keys and values of a sequence that grows, head by head.
//
// [head][row][width]: a step of a decoder reads the rows of one head in one go. Rows are appended; rewind() takes the
// newest ones away again, so a sequence can be continued differently without computing its beginning anew. Tested in
// tests/layers/head_cache_test.cpp.
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

/// Copyable. Memory is kept when rows are taken away.
class head_cache {
 public:
  extent rows() const noexcept { return rows_; }
  /// Floats from one head's rows to the next's.
  extent head_stride() const noexcept { return capacity_ * width_; }
  float* key(extent head, extent row) noexcept { return keys_.data() + head * head_stride() + row * width_; }
  float* value(extent head, extent row) noexcept { return values_.data() + head * head_stride() + row * width_; }
  /// All rows of the first head [rows, width]; the others lie head_stride() further.
  view<const float> keys() const noexcept { return make_view(keys_.data(), rows_, width_); }
  view<const float> values() const noexcept { return make_view(values_.data(), rows_, width_); }

  /// Room for `count` more rows, uninitialised; pointers from before are void. Sizes must not change while there are
  /// rows.
  void extend(extent count, extent heads, extent width) {
    if (rows_ == 0 && (heads != heads_ || width != width_)) {
      heads_ = heads;
      width_ = width;
      capacity_ = 0;
    }
    reserve(rows_ + count);
    rows_ += count;
  }
  /// Keeps the first `count` rows.
  void rewind(extent count) noexcept { rows_ = std::min(rows_, std::max<extent>(count, 0)); }

 private:
  void reserve(extent rows) {
    if (rows <= capacity_) return;
    // A half more than needed, so that rows seldom move.
    const extent capacity = std::max<extent>(rows + rows / 2, 64);
    for (auto* const all : {&keys_, &values_}) {
      std::vector<float> moved(static_cast<std::size_t>(heads_ * capacity * width_));
      for (extent h = 0; h < heads_ && rows_ > 0; ++h)
        std::memcpy(moved.data() + h * capacity * width_, all->data() + h * head_stride(),
                    static_cast<std::size_t>(rows_ * width_) * sizeof(float));
      *all = std::move(moved);
    }
    capacity_ = capacity;
  }

  std::vector<float> keys_, values_;
  extent heads_ = 0, width_ = 0, capacity_ = 0, rows_ = 0;
};

}  // namespace steno::inline STENO_ABI
