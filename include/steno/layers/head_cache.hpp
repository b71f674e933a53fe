// steno/layers/head_cache.hpp - keys and values of a sequence that grows, head by head.
//
// [head][row][width]: a step of a decoder reads the rows of one head in one go. Rows are appended; rewind() takes the
// newest ones away again, so a sequence can be continued differently without computing its beginning anew. Rows are
// kept as floats, halves or q8_0 (kernels/cached_attention.hpp): 8, 4 or 2.25 bytes for a key and its value. Tested in
// tests/layers/head_cache_test.cpp.
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/cached_attention.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

/// Copyable. Memory is kept when rows are taken away.
class head_cache {
 public:
  head_cache() = default;
  explicit head_cache(dtype format) : format_(format) { assert(kernels::cacheable(format)); }

  dtype format() const noexcept { return format_; }
  extent rows() const noexcept { return rows_; }
  /// Bytes that are held.
  std::size_t bytes() const noexcept { return keys_.capacity() + values_.capacity(); }
  /// The rows as they are stored.
  kernels::cached_rows stored() const noexcept {
    return {.keys = keys_.data(),
            .values = values_.data(),
            .format = format_,
            .rows = rows_,
            .heads = heads_,
            .width = width_,
            .head_stride = static_cast<std::size_t>(capacity_) * row_bytes()};
  }
  /// Writes a row of a head: `width` floats each.
  void write(extent head, extent row, const float* key, const float* value) noexcept {
    kernels::store_cached(format_, key, width_, keys_.data() + offset(head, row));
    kernels::store_cached(format_, value, width_, values_.data() + offset(head, row));
  }

  // Of floats alone:

  /// Floats from one head's rows to the next's.
  extent head_stride() const noexcept { return capacity_ * width_; }
  float* key(extent head, extent row) noexcept { return floats(keys_) + head * head_stride() + row * width_; }
  float* value(extent head, extent row) noexcept { return floats(values_) + head * head_stride() + row * width_; }
  /// All rows of the first head [rows, width]; the others lie head_stride() further.
  view<const float> keys() const noexcept { return make_view(floats(keys_), rows_, width_); }
  view<const float> values() const noexcept { return make_view(floats(values_), rows_, width_); }

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
  using buffer = std::vector<std::byte>;

  std::size_t row_bytes() const noexcept { return kernels::cached_row_bytes(format_, width_); }
  std::size_t offset(extent head, extent row) const noexcept {
    return static_cast<std::size_t>(head * capacity_ + row) * row_bytes();
  }
  float* floats(buffer& all) noexcept {
    assert(format_ == dtype::f32);
    return reinterpret_cast<float*>(all.data());
  }
  const float* floats(const buffer& all) const noexcept {
    assert(format_ == dtype::f32);
    return reinterpret_cast<const float*>(all.data());
  }
  void reserve(extent rows) {
    if (rows <= capacity_) return;
    // A half more than needed, so that rows seldom move.
    const extent capacity = std::max<extent>(rows + rows / 2, 64);
    const std::size_t head = static_cast<std::size_t>(capacity) * row_bytes();
    for (buffer* const all : {&keys_, &values_}) {
      buffer moved(static_cast<std::size_t>(heads_) * head);
      for (extent h = 0; h < heads_ && rows_ > 0; ++h)
        std::memcpy(moved.data() + static_cast<std::size_t>(h) * head, all->data() + offset(h, 0),
                    static_cast<std::size_t>(rows_) * row_bytes());
      *all = std::move(moved);
    }
    capacity_ = capacity;
  }

  buffer keys_, values_;
  extent heads_ = 0, width_ = 0, capacity_ = 0, rows_ = 0;
  dtype format_ = dtype::f32;
};

}  // namespace steno::inline STENO_ABI
