// steno/layers/key_value_cache.hpp - the rows an attention layer keeps of frames that went by.
//
// A row is [key | value] of one frame (the layer decides on widths). Rows are appended and the oldest dropped; live
// rows move to the front only when the buffer is full, so with a bound on what is kept a stream costs the same per
// chunk for ever and allocates nothing once the buffer has its size. WeNet `att_cache`. Tested in
// tests/layers/key_value_cache_test.cpp.
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace steno::inline STENO_ABI {

/// Copyable: tests rewind, beams fork.
class key_value_cache {
 public:
  extent rows() const noexcept { return end_ - begin_; }
  extent width() const noexcept { return width_; }
  float* data() noexcept { return values_.data() + begin_ * width_; }
  const float* data() const noexcept { return values_.data() + begin_ * width_; }

  /// Room for `count` more rows of `width` values, uninitialised; pointers from before are void. Returns the first new
  /// row.
  float* extend(extent count, extent width) {
    if (rows() == 0) begin_ = end_ = 0;
    width_ = width;
    const auto fits = static_cast<std::size_t>((end_ + count) * width_) <= values_.size();
    if (!fits && begin_ > 0) {
      std::memmove(values_.data(), data(), static_cast<std::size_t>(rows() * width_) * sizeof(float));
      end_ -= begin_;
      begin_ = 0;
    }
    // Twice what is needed, so that rows seldom move.
    const auto needed = static_cast<std::size_t>((end_ + count) * width_);
    if (needed > values_.size()) values_.resize(2 * needed);
    float* const at = values_.data() + end_ * width_;
    end_ += count;
    return at;
  }
  /// Keeps the last `count` rows; everything when it is negative.
  void keep(extent count) noexcept {
    if (count >= 0) begin_ = std::max(begin_, end_ - count);
  }
  /// Takes the newest `count` rows away.
  void drop_last(extent count) noexcept { end_ -= std::min(count, rows()); }
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  std::vector<float> values_;
  extent width_ = 0, begin_ = 0, end_ = 0;
};

/// Rows that a stream keeps of what went by: the record's `keep`; without one, all.
template <class Env>
extent keep_of(const Env& env) noexcept {
  if constexpr (requires { env.keep; })
    return env.keep;
  else
    return -1;
}

}  // namespace steno::inline STENO_ABI
