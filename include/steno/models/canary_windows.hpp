// steno/models/canary_windows.hpp - how long recordings are cut for Canary, and where its words are.
//
// From 40 s on a recording is cut into windows of 30 to 40 whole seconds that overlap by one, of the length that makes
// the last one longest (the first of equals), and their texts are merged (search/overlap_merge.hpp). A shorter one is
// a window; one below 1 s has zeros on both sides. Words with times are what stands between two tokens <|k|>.
//
// `_find_optimal_chunk_size`, `_chunk_waveform` (audio_to_text_lhotse_prompted.py), `merge_parallel_chunks`
// (chunking_utils.py), `process_aed_timestamp_outputs` (timestamp_utils.py) of NeMo; padding is lhotse's. Tested in
// tests/models/canary_windows_test.cpp and on the recorded tables (tests/parity/canary_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/tokenizers/nemo_words.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// The windows of a recording, in samples.
struct canary_windows {
  static constexpr extent second = 16000;          ///< samples a second
  static constexpr extent shortest = 30 * second;  ///< of windows
  static constexpr extent longest = 40 * second;   ///< from this length on a recording is cut
  static constexpr extent overlap = second;        ///< of neighbours

  extent window = 0;  ///< samples of all but the last
  extent total = 0;   ///< samples of the recording

  /// Of a recording of so many samples.
  STENO_ON_CALL STENO_COLD static canary_windows of(extent samples) {
    canary_windows w{samples, samples};
    if (samples < longest) return w;
    extent best = 0;
    for (extent size = shortest; size <= longest; size += second) {
      const extent step = size - overlap, last = samples - step * ((samples + step - 1) / step - 1);
      if (size > samples || last <= best) continue;
      best = last;
      w.window = size;
    }
    return w;
  }
  /// How many there are.
  extent count() const noexcept { return window >= total ? 1 : (total - overlap + step() - 1) / step(); }
  /// The first sample of window i.
  extent start(extent i) const noexcept { return i * step(); }
  /// Samples of window i.
  extent length(extent i) const noexcept { return std::min(window, total - start(i)); }

 private:
  extent step() const noexcept { return window - overlap; }
};

/// Zeros before a recording of less than a second, which get it to one second together with those behind it.
constexpr extent canary_zeros_before(extent samples) noexcept {
  return samples < canary_windows::second ? (canary_windows::second - samples + 1) / 2 : 0;
}

namespace detail {
/// A token <|k|> at the start of `text`: its length, 0 for anything else.
STENO_ON_CALL inline std::size_t time_token(std::string_view text, extent& frame) {
  constexpr std::size_t longest = 9;
  if (!text.starts_with("<|")) return 0;
  std::size_t at = 2;
  frame = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at < 2 + longest; ++at)
    frame = 10 * frame + (text[at] - '0');
  return at > 2 && text.substr(at).starts_with("|>") ? at + 2 : 0;
}
}  // namespace detail

/// A text of Canary with its times.
struct canary_timed_text {
  std::string text = {};                            ///< without tokens for times where there are pairs of them
  bool timed = false;                               ///< there is a pair
  std::vector<tokenizers::placed_text> words = {};  ///< `first` and `last`: the number of the pair, with empty ones
};
/// What stands between two tokens for times is a word, and what does not stand so is dropped; a text without a pair
/// stays. Frames are encoder rows.
STENO_ON_CALL STENO_COLD inline canary_timed_text canary_times(std::string_view text) {
  canary_timed_text all;
  const std::string_view bare = tokenizers::unicode::strip(text);
  std::size_t pairs = 0;
  for (std::size_t at = 0; at < bare.size();) {
    extent start = 0, end = 0;
    const std::size_t length = detail::time_token(bare.substr(at), start);
    if (length == 0) {
      ++at;
      continue;
    }
    std::size_t close = at + length, closing = 0;
    while (close < bare.size() && bare[close] != '\n' && (closing = detail::time_token(bare.substr(close), end)) == 0)
      ++close;
    if (closing == 0) {
      at += length;
      continue;
    }
    const std::string_view word = tokenizers::unicode::strip(bare.substr(at + length, close - at - length));
    if (!word.empty()) {
      all.words.push_back({std::string(word), start, end, pairs, pairs + 1});
      all.text.append(all.text.empty() ? "" : " ").append(word);
    }
    ++pairs;
    at = close + closing;
  }
  all.timed = pairs > 0;
  if (!all.timed) all.text = bare;
  return all;
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
