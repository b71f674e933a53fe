// steno/networks/speaker_cache.hpp - what a diarizing stream remembers: a cache of rows for each speaker, and a FIFO.
//
// Every step encodes [cache, FIFO, chunk]. The chunk goes into the FIFO; what the FIFO has too much goes into the
// cache; a cache that is too long is compressed to the rows that show its speakers best:
//   score(t, s) = ln p_s - ln(1 - p_s) + sum_i ln(1 - p_i) - ln 0.5, probabilities at least pred_score_threshold
//   without speech (p_s <= 0.5): -infinity; with enough positive scores of a speaker its others: -infinity
//   new rows: + scores_boost_latest; a speaker's best: + 2 ln 2, and of more of them: + ln 2
// Kept rows stand by speaker, then by time. Behind those of a speaker stand rows of the mean silence, and so do those
// that nothing was found for, at the end. `StreamingSortformerState`, `SortformerModules.streaming_update` and
// `streaming_update_async`, `_compress_spkcache` (sortformer_modules.py); where scores are equal the original does not
// say which row stays, here the earliest does. Tested in tests/networks/speaker_cache_test.cpp and
// tests/parity/sortformer_test.cpp (golden states).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Names and defaults of `SortformerModules`; lengths in rows of 80 ms.
struct speaker_cache_options {
  extent spkcache_len = 188;               ///< rows that the cache is compressed to
  extent fifo_len = 0;                     ///< rows that the FIFO may hold
  extent chunk_len = 188;                  ///< new rows of a step
  extent spkcache_update_period = 188;     ///< rows that leave the FIFO at once
  extent chunk_left_context = 1;           ///< rows before the chunk that a step sees
  extent chunk_right_context = 1;          ///< rows behind the chunk that a step sees
  extent spkcache_sil_frames_per_spk = 3;  ///< rows of the mean silence behind each speaker's
  float pred_score_threshold = 0.25f;      ///< probabilities below it count as this in scores
  float scores_boost_latest = 0.05f;       ///< added to the scores of rows that are new in the cache
  float sil_threshold = 0.2f;              ///< a row is silent when its probabilities sum to less
  double strong_boost_rate = 0.75;         ///< part of a speaker's share of the cache: so many of its best get + 2 ln 2
  double weak_boost_rate = 1.5;            ///< so many times that share get + ln 2, the strong ones too
  double min_pos_scores_rate = 0.5;        ///< part of that share: with so many positive scores others of a speaker go
  /// As the original's "async" streams do: the cache's probabilities are those with which its rows came, also before it
  /// is compressed for the first time.
  bool async_streaming = false;

  /// Calls v(name, value) for each of them; `o` may be const.
  STENO_ON_CALL static void each(auto& o, auto&& v) {
    v("spkcache_len", o.spkcache_len);
    v("fifo_len", o.fifo_len);
    v("chunk_len", o.chunk_len);
    v("spkcache_update_period", o.spkcache_update_period);
    v("chunk_left_context", o.chunk_left_context);
    v("chunk_right_context", o.chunk_right_context);
    v("spkcache_sil_frames_per_spk", o.spkcache_sil_frames_per_spk);
    v("pred_score_threshold", o.pred_score_threshold);
    v("scores_boost_latest", o.scores_boost_latest);
    v("sil_threshold", o.sil_threshold);
    v("strong_boost_rate", o.strong_boost_rate);
    v("weak_boost_rate", o.weak_boost_rate);
    v("min_pos_scores_rate", o.min_pos_scores_rate);
    v("async_streaming", o.async_streaming);
  }
};

/// The state of a diarizing stream between its steps. Copyable. Allocates when it is made or copied.
/// Copyable. Allocates when it is made or copied.
class speaker_cache {
 public:
  /// An empty one, for rows of `width` columns and probabilities of `speakers` speakers.
  speaker_cache(const speaker_cache_options& o, extent width, extent speakers)
      : options_(o),
        width_(width),
        speakers_(speakers),
        known_(o.async_streaming),
        silence_(static_cast<std::size_t>(width)) {
    const extent popped = std::max(o.spkcache_update_period, o.chunk_len);
    reserve(cache_, o.spkcache_len + popped);
    reserve(fifo_, o.fifo_len + o.chunk_len);
    reserve(kept_, o.spkcache_len);
  }

  /// Those that it was made with.
  const speaker_cache_options& options() const noexcept { return options_; }
  /// Rows that a step encodes before its chunk.
  extent rows() const noexcept { return cache_rows() + fifo_rows(); }
  /// Rows of the cache.
  extent cache_rows() const noexcept { return static_cast<extent>(cache_.x.size()) / width_; }
  /// Rows of the FIFO.
  extent fifo_rows() const noexcept { return static_cast<extent>(fifo_.x.size()) / width_; }
  /// Rows of silence that left the FIFO so far, of which mean_silence() is the mean.
  extent silent_rows() const noexcept { return silent_; }

  /// The rows of the cache [cache_rows(), width]. Valid until update(), as all views here.
  view<const float> cache() const noexcept { return shown(cache_.x, width_); }
  /// The rows of the FIFO [fifo_rows(), width].
  view<const float> fifo() const noexcept { return shown(fifo_.x, width_); }
  /// The mean of silent rows [1, width]; zeros before there is one.
  view<const float> mean_silence() const noexcept { return shown(silence_, width_); }
  /// Probabilities that were kept; those of the cache are none before it was compressed.
  view<const float> cache_activities() const noexcept { return shown(cache_.p, speakers_); }
  /// Probabilities of the FIFO's rows [fifo_rows(), speakers].
  view<const float> fifo_activities() const noexcept { return shown(fifo_.p, speakers_); }

  /// After a step: `chunk` [left + n + right, width], of which the n rows in the middle are new; `activities` [rows() +
  /// left + n + right, speakers] are the probabilities.
  STENO_ON_CALL void update(const view<const float>& chunk, const view<const float>& activities, extent left,
                            extent right) {
    const extent before = cache_rows(), waiting = fifo_rows(), n = chunk.rows() - left - right;
    assert(n >= 0 && activities.rows() == rows() + chunk.rows() && chunk.cols() == width_ &&
           activities.cols() == speakers_);
    fifo_.p.clear();
    append(fifo_.p, activities, before, waiting);
    append(fifo_.p, activities, before + waiting + left, n);
    append(fifo_.x, chunk, left, n);
    if (waiting + n <= options_.fifo_len) return;

    const extent out =
        std::min(std::max(options_.spkcache_update_period, n - options_.fifo_len + waiting), waiting + n);
    add_silence(out);
    const auto leaves = [&](std::vector<float>& from, std::vector<float>& to, extent size) {
      const auto end = from.begin() + static_cast<std::ptrdiff_t>(out * size);
      to.insert(to.end(), from.begin(), end);
      from.erase(from.begin(), end);
    };
    leaves(fifo_.x, cache_.x, width_);
    const bool full = cache_rows() > options_.spkcache_len;
    if (full && !known_) append(cache_.p, activities, 0, before);
    if (full || known_) {
      leaves(fifo_.p, cache_.p, speakers_);
      known_ = true;
    } else {
      fifo_.p.erase(fifo_.p.begin(), fifo_.p.begin() + static_cast<std::ptrdiff_t>(out * speakers_));
    }
    if (full) compress();
  }

 private:
  struct store {
    std::vector<float> x, p;  // rows and their probabilities
  };

  STENO_ON_CALL void reserve(store& s, extent rows) const {
    s.x.reserve(static_cast<std::size_t>(rows * width_));
    s.p.reserve(static_cast<std::size_t>(rows * speakers_));
  }
  static view<const float> shown(const std::vector<float>& all, extent width) noexcept {
    return core::make_view(all.data(), static_cast<extent>(all.size()) / width, width);
  }
  STENO_ON_CALL static void append(std::vector<float>& to, const view<const float>& from, extent first, extent count) {
    for (extent t = first; t < first + count; ++t) {
      const float* const row = from.data() + t * from.outerStride();
      to.insert(to.end(), row, row + from.cols());
    }
  }

  // Rows of the FIFO's first `count` in which nobody speaks go into the mean.
  STENO_ON_CALL void add_silence(extent count) {
    extent found = 0;
    sum_.assign(static_cast<std::size_t>(width_), 0.0f);
    for (extent t = 0; t < count; ++t) {
      const float* const p = fifo_.p.data() + t * speakers_;
      if (!(std::accumulate(p, p + speakers_, 0.0f) < options_.sil_threshold)) continue;
      ++found;
      for (extent i = 0; i < width_; ++i)
        sum_[static_cast<std::size_t>(i)] += fifo_.x[static_cast<std::size_t>(t * width_ + i)];
    }
    if (found == 0) return;
    const auto old = static_cast<float>(silent_), all = static_cast<float>(silent_ + found);
    for (std::size_t i = 0; i < silence_.size(); ++i) silence_[i] = (silence_[i] * old + sum_[i]) / all;
    silent_ += found;
  }

  // Keeps spkcache_len rows of the cache.
  STENO_ON_CALL void compress() {
    const extent n = cache_rows(), each = n + options_.spkcache_sil_frames_per_spk, kept = options_.spkcache_len;
    const auto share = static_cast<double>(kept / speakers_ - options_.spkcache_sil_frames_per_spk);
    const auto of_share = [&](double rate) { return static_cast<extent>(std::floor(share * rate)); };
    score(n, of_share(options_.min_pos_scores_rate));
    for (extent s = 0; s < speakers_; ++s) {
      boost(s * each, n, of_share(options_.strong_boost_rate), 2);
      boost(s * each, n, of_share(options_.weak_boost_rate), 1);
    }
    best_of(0, each * speakers_, kept);
    // What has no score, and so nothing to show, stands behind everything else.
    const auto none = std::partition(order_.begin(), order_.begin() + kept,
                                     [&](extent i) { return score_[static_cast<std::size_t>(i)] > never; });
    std::sort(order_.begin(), none);
    kept_.x.clear();
    kept_.p.clear();
    for (auto i = order_.begin(); i != order_.begin() + kept; ++i) {
      const extent t = *i % each;
      if (i < none && t < n) {
        append(kept_.x, cache(), t, 1);
        append(kept_.p, cache_activities(), t, 1);
      } else {
        append(kept_.x, mean_silence(), 0, 1);
        kept_.p.insert(kept_.p.end(), static_cast<std::size_t>(speakers_), 0.0f);
      }
    }
    std::swap(cache_.x, kept_.x);
    std::swap(cache_.p, kept_.p);
  }

  // score_ [speakers, n + silence], the rows of silence at the end of each speaker's.
  STENO_ON_CALL void score(extent n, extent enough) {
    const extent each = n + options_.spkcache_sil_frames_per_spk;
    const float least = std::max(options_.pred_score_threshold, std::numeric_limits<float>::min()),
                half = std::log(0.5f);
    score_.assign(static_cast<std::size_t>(each * speakers_), std::numeric_limits<float>::infinity());
    for (extent t = 0; t < n; ++t) {
      const float* const p = cache_.p.data() + t * speakers_;
      float nobody = 0;
      for (extent s = 0; s < speakers_; ++s)
        nobody += std::log(std::max(least, 1.0f - p[s]));  // least, too, where there is no number
      for (extent s = 0; s < speakers_; ++s)
        at(s * each + t) =
            p[s] > 0.5f ? std::log(std::max(least, p[s])) - std::log(std::max(least, 1.0f - p[s])) + nobody - half
                        : never;
    }
    for (extent s = 0; s < speakers_; ++s) {
      const auto first = score_.begin() + s * each, last = first + n;
      if (std::count_if(first, last, [](float v) { return v > 0; }) >= enough)
        std::replace_if(
            first, last, [](float v) { return !(v > 0); }, never);
      for (extent t = options_.spkcache_len; t < n; ++t) at(s * each + t) += options_.scores_boost_latest;
    }
  }
  STENO_ON_CALL void boost(extent first, extent n, extent count, int times) {
    count = std::min(count, n);
    best_of(first, n, count);
    for (extent i = 0; i < count; ++i)
      at(order_[static_cast<std::size_t>(i)]) -= static_cast<float>(times * std::log(0.5));
  }
  // The `count` best of score_[first ..] to the front of order_.
  STENO_ON_CALL void best_of(extent first, extent n, extent count) {
    order_.resize(static_cast<std::size_t>(n));
    std::iota(order_.begin(), order_.end(), first);
    std::partial_sort(order_.begin(), order_.begin() + count, order_.end(), [&](extent a, extent b) {
      const float x = at(a), y = at(b);
      return x != y ? x > y : a < b;
    });
  }
  float& at(extent i) noexcept { return score_[static_cast<std::size_t>(i)]; }

  static constexpr float never = -std::numeric_limits<float>::infinity();

  speaker_cache_options options_;
  extent width_, speakers_, silent_ = 0;
  bool known_;  // the probabilities of the cache
  store cache_, fifo_, kept_;
  std::vector<float> silence_, sum_, score_;
  std::vector<extent> order_;
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
