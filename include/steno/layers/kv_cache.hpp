// steno/layers/kv_cache.hpp - keys and values of rows that went by, head by head.
//
// [head][row][width]: attention reads the rows of one head in one go. Rows are appended; keep() drops the oldest (a
// stream), rewind() the newest (a text that goes on differently); sequences that share rows are lists of their numbers
// (layers/kv_sequences.hpp). Rows are kept as floats, halves or q8_0 (kernels/cached_attention.hpp): 8, 4 or 2.25 bytes
// for a key and its value. Live rows move only when the buffer is full, so with a bound on what is kept a stream costs
// the same per chunk for ever and allocates nothing once the buffer has its size. Rows that stay as they are (an
// encoder's, for a decoder) may be packed once for many calls instead. WeNet `att_cache`, the cache
// of keys and values in transformers. Tested in tests/layers/kv_cache_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/aligned.hpp>
#include <steno/core/view.hpp>
#include <steno/error.hpp>
#include <steno/kernels/cached_attention.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Copyable: tests rewind, beams fork. Memory is kept when rows are dropped.
class kv_cache {
 public:
  /// How numbers are stored; f32 before the first rows.
  dtype format() const noexcept { return format_; }
  /// Rows that are held.
  extent rows() const noexcept { return end_ - begin_; }
  /// Heads of a row; 0 before the first rows.
  extent heads() const noexcept { return heads_; }
  /// Columns of one head's key.
  extent key_width() const noexcept { return key_width_; }
  /// Columns of one head's value.
  extent value_width() const noexcept { return value_width_; }
  /// Bytes that are held.
  std::size_t bytes() const noexcept { return keys_.capacity() + values_.capacity(); }

  /// k [n, heads * key width] and v [n, heads * value width] behind what is there; pointers from before are void. Sizes
  /// and format are those of the first rows; others throw steno::error. Formats other than f32 need equal widths.
  void append(const view<const float>& k, const view<const float>& v, extent heads, dtype format = dtype::f32) {
    if (rows() == 0) shape(heads, k.cols() / heads, v.cols() / heads, format);
    if (heads != heads_ || k.cols() != heads_ * key_width_ || v.cols() != heads_ * value_width_ || format != format_)
      refuse(k.cols() + v.cols());
    assert(k.rows() == v.rows());
    reserve(k.rows());
    for (extent t = 0; t < k.rows(); ++t)
      for (extent h = 0; h < heads_; ++h) {
        const float* const from_k = k.data() + t * k.outerStride() + h * key_width_;
        const float* const from_v = v.data() + t * v.outerStride() + h * value_width_;
        kernels::store_cached(format_, from_k, key_width_, keys_.data() + offset(h, end_ + t, key_width_));
        kernels::store_cached(format_, from_v, value_width_, values_.data() + offset(h, end_ + t, value_width_));
      }
    end_ += k.rows();
  }
  /// Keeps the last `count` rows; everything when it is negative.
  void keep(extent count) noexcept {
    if (count >= 0) begin_ = std::max(begin_, end_ - count);
  }
  /// Keeps the first `count` rows.
  void rewind(extent count) noexcept { end_ = begin_ + std::clamp<extent>(count, 0, rows()); }
  /// Drops all rows and keeps their room; the next ones may have other sizes.
  void clear() noexcept { begin_ = end_ = 0; }

  /// The rows as they are stored, from row `first` on.
  kernels::cached_rows stored(extent first = 0) const noexcept {
    return {.keys = keys_.data() + offset(0, begin_ + first, key_width_),
            .values = values_.data() + offset(0, begin_ + first, value_width_),
            .format = format_,
            .rows = rows() - first,
            .heads = heads_,
            .width = key_width_,
            .head_stride = static_cast<std::size_t>(capacity_) * kernels::cached_row_bytes(format_, key_width_)};
  }
  /// Of floats alone: keys of the first head [rows, width]; the next head's lie key_head_stride() floats further. Valid
  /// until rows are appended.
  view<const float> keys() const noexcept {
    return core::make_view(floats(keys_) + begin_ * key_width_, rows(), key_width_);
  }
  /// Of floats alone: values of the first head, as keys().
  view<const float> values() const noexcept {
    return core::make_view(floats(values_) + begin_ * value_width_, rows(), value_width_);
  }
  /// Floats from a key of one head to that of the next.
  extent key_head_stride() const noexcept { return capacity_ * key_width_; }
  /// Floats from a value of one head to that of the next.
  extent value_head_stride() const noexcept { return capacity_ * value_width_; }

  /// These rows and no others, packed in `format` (f32 or f16) for kernels::attention; nothing can be appended to them.
  void pack(const view<const float>& k, const view<const float>& v, extent heads, dtype format, context& c) {
    clear();
    shape(heads, k.cols() / heads, v.cols() / heads, format);
    packed_ = true;
    end_ = k.rows();
    keys_.resize(packed().bytes());
    kernels::pack_attention(k, v, packed(), c);
  }
  /// Whether rows came by pack().
  bool is_packed() const noexcept { return packed_; }
  /// What pack() made; it points into this cache. Only where is_packed().
  kernels::packed_keys_values packed() const noexcept {
    return {.data = const_cast<std::byte*>(keys_.data()),
            .format = format_,
            .heads = heads_,
            .keys = rows(),
            .width = key_width_,
            .value_width = value_width_};
  }

 private:
  using buffer = core::line_vector<std::byte>;

  [[noreturn]] STENO_COLD void refuse(extent found) const {
    fail({.what = "widths, heads or format of a cache's rows",
          .expected = std::to_string(heads_ * (key_width_ + value_width_)) + " numbers in " +
                      std::string(core::info(format_).name) + ", as the rows before",
          .found = std::to_string(found)});
  }

  void shape(extent heads, extent key_width, extent value_width, dtype format) {
    begin_ = end_ = 0;
    if (!packed_ && heads == heads_ && key_width == key_width_ && value_width == value_width_ && format == format_)
      return;
    assert(kernels::cacheable(format) && (format == dtype::f32 || key_width == value_width));
    heads_ = heads;
    key_width_ = key_width;
    value_width_ = value_width;
    format_ = format;
    capacity_ = 0;
    packed_ = false;
  }
  std::size_t offset(extent head, extent row, extent width) const noexcept {
    return static_cast<std::size_t>(head * capacity_ + row) * kernels::cached_row_bytes(format_, width);
  }
  const float* floats(const buffer& all) const noexcept {
    assert(format_ == dtype::f32);
    return reinterpret_cast<const float*>(all.data());
  }
  // Room for `count` more rows. A quarter stays free behind rows that move, so that they seldom do.
  void reserve(extent count) {
    const extent live = rows(), needed = live + count;
    if (end_ + count <= capacity_) return;
    if (begin_ > 0 && 4 * needed <= 3 * capacity_) {
      move_rows(keys_, keys_, capacity_, key_width_);
      move_rows(values_, values_, capacity_, value_width_);
    } else {
      const extent capacity = std::max<extent>(needed + needed / 2, 64);
      for (const auto& [all, width] : {std::pair{&keys_, key_width_}, {&values_, value_width_}}) {
        buffer moved(static_cast<std::size_t>(heads_ * capacity) * kernels::cached_row_bytes(format_, width));
        move_rows(*all, moved, capacity, width);
        *all = std::move(moved);
      }
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = live;
  }
  // The live rows of every head to the front of its room for `capacity` rows.
  void move_rows(const buffer& from, buffer& to, extent capacity, extent width) const noexcept {
    const std::size_t row = kernels::cached_row_bytes(format_, width);
    for (extent h = 0; h < heads_ && rows() > 0; ++h)
      std::memmove(to.data() + static_cast<std::size_t>(h * capacity) * row, from.data() + offset(h, begin_, width),
                   static_cast<std::size_t>(rows()) * row);
  }

  buffer keys_, values_;
  extent heads_ = 0, key_width_ = 0, value_width_ = 0, capacity_ = 0, begin_ = 0, end_ = 0;
  dtype format_ = dtype::f32;
  bool packed_ = false;
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
