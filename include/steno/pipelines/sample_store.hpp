// steno/pipelines/sample_store.hpp - samples of a recording that are needed again later.
//
// Kept in blocks, with 16 bits for a sample where that loses nothing (recordings that were 16 bits wide), so that hours
// of them take what their file takes; those that are not needed any more are given back. Tested in
// tests/pipelines/sample_store_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// Samples [begin(), end()) of one recording. One thread at a time.
class sample_store {
 public:
  static constexpr extent block = 1 << 16;  ///< samples that are kept and given back together

  /// More samples.
  STENO_ON_CALL void push(std::span<const float> pcm) {
    while (!pcm.empty()) {
      const auto now = std::min(pcm.size(), static_cast<std::size_t>(block) - open_.size());
      open_.insert(open_.end(), pcm.begin(), pcm.begin() + static_cast<std::ptrdiff_t>(now));
      pcm = pcm.subspan(now);
      if (open_.size() == static_cast<std::size_t>(block)) close();
    }
  }
  /// One behind the last sample there was.
  extent end() const noexcept {
    return first_ + static_cast<extent>(blocks_.size()) * block + static_cast<extent>(open_.size());
  }
  /// The first sample that is still there.
  extent begin() const noexcept { return first_; }
  /// Samples before `at` may go.
  void drop_before(extent at) {
    while (!blocks_.empty() && first_ + block <= at) {
      blocks_.pop_front();
      first_ += block;
    }
  }
  /// Samples [from, to), which must be there, into `out`.
  STENO_ON_CALL void read(extent from, extent to, std::vector<float>& out) const {
    out.clear();
    while (from < to) {
      const auto number = static_cast<std::size_t>((from - first_) / block);
      const extent at = (from - first_) % block, now = std::min(to - from, block - at);
      if (number == blocks_.size()) {
        out.insert(out.end(), open_.begin() + at, open_.begin() + at + now);
      } else if (const kept& k = blocks_[number]; !k.narrow.empty()) {
        for (extent i = at; i < at + now; ++i)
          out.push_back(static_cast<float>(k.narrow[static_cast<std::size_t>(i)]) * 0x1p-15f);
      } else {
        out.insert(out.end(), k.wide.begin() + at, k.wide.begin() + at + now);
      }
      from += now;
    }
  }

 private:
  struct kept {
    std::vector<std::int16_t> narrow;
    std::vector<float> wide;
  };
  STENO_ON_CALL void close() {
    kept k;
    const auto fits = [](float x) {
      const float scaled = x * 0x1p15f;
      return scaled >= -32768.0f && scaled <= 32767.0f && scaled == std::nearbyint(scaled) &&
             !(x == 0.0f && std::signbit(x));
    };
    if (std::all_of(open_.begin(), open_.end(), fits)) {
      k.narrow.reserve(open_.size());
      for (const float x : open_) k.narrow.push_back(static_cast<std::int16_t>(x * 0x1p15f));
    } else {
      k.wide = open_;
    }
    open_.clear();
    blocks_.push_back(std::move(k));
  }

  std::deque<kept> blocks_;
  std::vector<float> open_;
  extent first_ = 0;  // sample of the first block
};

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
