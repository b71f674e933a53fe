// steno/models/parakeet_windows.hpp - recordings of any length through an encoder that sees all of its input.
//
// Up to `whole` seconds a recording is encoded with full context, as the original's transcribe() does. A longer one is
// encoded in windows: `middle` seconds whose rows count, between `left` and `right` seconds that are encoded only as
// context. Memory and the cost of a second no longer grow with the length, and nothing happens at any length but this.
// Features are normalised in each window. The windows are those of NeMo's buffered streaming
// (`StreamingBatchedAudioBuffer`, streaming_utils.py), with other sizes: as soon as nothing follows a window's right
// context, that counts, too, and the window is the last. Tested in tests/models/parakeet_test.cpp and
// tests/parity/nemotron_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// How long recordings are cut, in seconds.
struct parakeet_windows {
  double whole = 300;   ///< recordings up to this length are not cut
  double left = 20;     ///< context before the rows that count
  double middle = 120;  ///< rows that count
  double right = 20;    ///< context behind them
};

/// One window: samples [from, to) are encoded, and of the recording's rows [first, last) count.
struct row_window {
  extent from = 0;   ///< the first sample that is encoded
  extent to = 0;     ///< the first one that is not any more
  extent first = 0;  ///< the first row that counts
  extent last = 0;   ///< the first one behind those that count; of the last window behind all that there may be
};

/// parakeet_windows in encoder rows.
struct window_rows {
  extent left = 0;    ///< context before the rows that count
  extent middle = 1;  ///< rows that count, one at least
  extent right = 0;   ///< context behind them
  /// The last window is as long as the others, however little is new in it, as the original has it: its rows may begin
  /// between those of the others, by less than one. Otherwise it begins as the others do.
  bool fills = false;

  window_rows() = default;
  /// At least one row counts.
  window_rows(extent left_rows, extent middle_rows, extent right_rows)
      : left(std::max<extent>(left_rows, 0)),
        middle(std::max<extent>(middle_rows, 1)),
        right(std::max<extent>(right_rows, 0)) {}
  /// Rounded; a row has `row_seconds`.
  window_rows(const parakeet_windows& w, double row_seconds) {
    const auto rows = [&](double seconds) {
      return static_cast<extent>(std::lround(std::clamp(seconds, 0.0, 1e6) / row_seconds));
    };
    left = rows(w.left);
    middle = std::max<extent>(rows(w.middle), 1);
    right = rows(w.right);
  }
  /// Rows from the first that counts to the end of the right context: a window whose samples end there, or before, is
  /// the last.
  extent step() const noexcept { return middle + right; }
  /// The window whose rows count from `first`, of a recording of so many samples, `each` of them a row.
  row_window at(extent first, extent samples, extent each) const noexcept {
    const extent from = std::max<extent>(0, (first - left) * each), end = (first + step()) * each;
    if (end < samples) return {from, end, first, first + middle};
    const extent whole = std::max<extent>(0, samples - (left + step()) * each);
    return {fills ? whole : from, samples, first, samples / each + 2};  // a causal encoder makes a row more
  }
};

/// Encodes a window, `pcm` being the samples from `w.from` on, perhaps too many: f(rows that count, w.first).
template <class Model, class F>
void encode_window(const Model& m, std::span<const float> pcm, const row_window& w, context& c, F&& f,
                   const parakeet_encoding& how = {}) {
  const auto part = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(w.to - w.from)));
  const extent n = m.frames(static_cast<extent>(part.size()));
  const extent skip = (w.first * m.samples_per_row() - w.from) / m.samples_per_row();
  const extent count = std::min(w.last - w.first, n - skip);
  if (count <= 0) return;
  core::workspace::frame scratch(c.scratch);
  auto rows = scratch.template matrix<dynamic, Model::encoder_type::output>(n, m.encoder.output_size());
  m.encode(part, rows, c, how);
  f(core::as<const float, dynamic, Model::encoder_type::output>(rows.middleRows(skip, count)), w.first);
}

/// Encodes a recording: f(rows, number of the first one) once or for every window.
template <class Model, class F>
void encode_windows(const Model& m, std::span<const float> pcm, const parakeet_windows& sizes, context& c, F&& f,
                    const parakeet_encoding& how = {}) {
  const extent n = m.frames(static_cast<extent>(pcm.size()));
  if (n == 0) return;
  if (static_cast<double>(pcm.size()) <= sizes.whole * Model::sample_rate) {
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, Model::encoder_type::output>(n, m.encoder.output_size());
    m.encode(pcm, rows, c, how);
    return f(core::as<const float, dynamic, Model::encoder_type::output>(rows), extent{0});
  }
  const window_rows cut(sizes, m.frame_seconds());
  const extent all = static_cast<extent>(pcm.size()), each = m.samples_per_row();
  for (extent first = 0; first * each < all;) {
    const row_window w = cut.at(first, all, each);
    encode_window(m, pcm.subspan(static_cast<std::size_t>(w.from)), w, c, f, how);
    first = w.last;
  }
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
