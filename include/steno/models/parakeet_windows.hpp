// steno/models/parakeet_windows.hpp - recordings of any length through an encoder that sees all of its input.
//
// Up to `whole` seconds a recording is encoded with full context, as the original's transcribe() does. A longer one is
// encoded in windows: `middle` seconds whose rows count, between `left` and `right` seconds that are encoded only as
// context. Memory and the cost of a second no longer grow with the length, and nothing happens at any length but this.
// Features are normalised in each window. NeMo's buffered inference works in the same way (streaming_utils.py,
// `FrameBatchASR`), with other sizes. Tested in tests/models/parakeet_test.cpp.
#pragma once
#include <steno/core/context.hpp>

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

/// Encoder rows of one window: [from, to) are encoded, [first, last) count.
struct row_window {
  extent from = 0;   ///< the first that is encoded
  extent first = 0;  ///< the first that counts
  extent last = 0;   ///< the first behind those that count
  extent to = 0;     ///< the first that is not encoded any more
};

/// parakeet_windows in encoder rows.
struct window_rows {
  extent left = 0;    ///< context before the rows that count
  extent middle = 1;  ///< rows that count, one at least
  extent right = 0;   ///< context behind them

  window_rows() = default;
  /// Rounded; a row has `row_seconds`.
  window_rows(const parakeet_windows& w, double row_seconds) {
    const auto rows = [&](double seconds) {
      return static_cast<extent>(std::lround(std::clamp(seconds, 0.0, 1e6) / row_seconds));
    };
    left = rows(w.left);
    middle = std::max<extent>(rows(w.middle), 1);
    right = rows(w.right);
  }
  /// The window whose rows count from `first`, when there are `n` rows in all.
  row_window at(extent first, extent n) const noexcept {
    const extent last = std::min(n, first + middle);
    return {std::max<extent>(0, first - left), first, last, std::min(n, last + right)};
  }
};

/// Encodes a window, `pcm` being the samples from row `w.from` on, perhaps too many: f(rows that count, w.first).
template <class Model, class F>
void encode_window(const Model& m, std::span<const float> pcm, const row_window& w, context& c, F&& f) {
  const auto max_samples = static_cast<std::size_t>((w.to - w.from) * m.samples_per_row());
  const auto part = pcm.first(std::min(pcm.size(), max_samples));
  core::workspace::frame scratch(c.scratch);
  auto rows = scratch.template matrix<dynamic, Model::encoder_type::output>(m.frames(static_cast<extent>(part.size())),
                                                                            m.encoder.output_size());
  m.encode(part, rows, c);
  const extent skip = w.first - w.from, count = std::min(w.last - w.first, rows.rows() - skip);
  if (count > 0) f(core::as<const float, dynamic, Model::encoder_type::output>(rows.middleRows(skip, count)), w.first);
}

/// Encodes a recording: f(rows, number of the first one) once or for every window.
template <class Model, class F>
void encode_windows(const Model& m, std::span<const float> pcm, const parakeet_windows& sizes, context& c, F&& f) {
  const extent n = m.frames(static_cast<extent>(pcm.size()));
  if (n == 0) return;
  if (static_cast<double>(pcm.size()) <= sizes.whole * Model::sample_rate) {
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, Model::encoder_type::output>(n, m.encoder.output_size());
    m.encode(pcm, rows, c);
    return f(core::as<const float, dynamic, Model::encoder_type::output>(rows), extent{0});
  }
  const window_rows cut(sizes, m.frame_seconds());
  for (extent first = 0; first < n; first += cut.middle) {
    const row_window w = cut.at(first, n);
    encode_window(m, pcm.subspan(static_cast<std::size_t>(w.from * m.samples_per_row())), w, c, f);
  }
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
