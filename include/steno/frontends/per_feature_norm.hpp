// steno/frontends/per_feature_norm.hpp - each column of a clip's features with mean 0 and deviation 1.
//
//   y[t, b] = (x[t, b] - mean_b) / (deviation_b + 1e-5), deviation with n - 1 in the denominator (0 for one row)
//
// NeMo `normalize_batch` with "per_feature" (features.py). All rows must be known, so accept() keeps them and finish()
// gives them all. Off ("NA"), rows pass as they come. [T, D] -> [T, D]. Tested in
// tests/frontends/per_feature_norm_test.cpp.
#pragma once
#include <steno/frontends/frontend.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Normalises each of D columns over a whole clip; in a stream, rows come only when it is finished. Const and shared.
template <extent D = dynamic>
class per_feature_norm {
 public:
  static constexpr extent input = D, output = D;
  static constexpr std::string_view name = "features";  ///< of the traced stage

  /// Rows of the clip so far. Copyable.
  struct state {
    std::vector<float> kept;  ///< rows that came, one behind the other; empty when off
  };

  per_feature_norm() = default;
  /// For rows of `width` values, which must be D where that is static (checked in debug builds); rows pass as they are
  /// when `on` is false.
  per_feature_norm(extent width, bool on) : width_(width), on_(on) { assert(core::compatible(D, width)); }

  /// False when rows pass as they are, which streams need.
  bool on() const noexcept { return on_; }
  extent width() const noexcept { return width_.get(); }  ///< values of each row
  extent rows(extent n) const noexcept { return n; }      ///< as many as come in
  state start() const { return {}; }
  /// Rows that accept() of `n` more writes: none, or all of them when off.
  extent ready(const state&, extent n) const { return on_ ? 0 : n; }
  extent at_end(const state& s, extent n) const { return static_cast<extent>(s.kept.size()) / width() + n; }

  /// Keeps the rows x; when off, copies them to y.
  void accept(state& s, const view<const float>& x, view<float> y, context&) const {
    if (!on_) return copy(x, y);
    const std::size_t old = s.kept.size();
    s.kept.resize(old + static_cast<std::size_t>(x.size()));
    core::make_view(s.kept.data() + old, x.rows(), x.cols()) = x;
  }
  /// Takes the last rows (perhaps none), writes all rows of the clip, normalised, to y [at_end(s, n), D] and empties
  /// the state.
  void finish(state& s, const view<const float>& x, view<float> y, context& c) const {
    const extent before = static_cast<extent>(s.kept.size()) / width();
    copy(x, core::write(y.bottomRows(x.rows())));
    if (before > 0) y.topRows(before) = core::make_view(static_cast<const float*>(s.kept.data()), before, width());
    s.kept.clear();
    (*this)(core::read(y), y, c);
  }

  /// A whole clip, y [T, D], which may be x.
  void operator()(const view<const float>& x, view<float> y, context& c) const {
    assert(x.rows() == y.rows() && x.cols() == width() && y.cols() == width());
    if (!on_) return copy(x, y);
    const extent n = width();
    const auto frames = static_cast<double>(x.rows());
    core::workspace::frame scratch(c.scratch);
    double* const mean = scratch.template take<double>(static_cast<std::size_t>(n));
    double* const square = scratch.template take<double>(static_cast<std::size_t>(n));
    std::fill_n(mean, n, 0.0);
    std::fill_n(square, n, 0.0);
    const auto each = [&](auto&& f) {
      for (extent t = 0; t < x.rows(); ++t)
        for (extent i = 0; i < n; ++i) f(i, static_cast<double>(x.data()[t * x.outerStride() + i]));
    };
    each([&](extent i, double v) { mean[i] += v / frames; });
    each([&](extent i, double v) { square[i] += (v - mean[i]) * (v - mean[i]); });
    for (extent t = 0; t < x.rows(); ++t)
      for (extent i = 0; i < n; ++i) {
        const float deviation = x.rows() < 2 ? 0.0f : static_cast<float>(std::sqrt(square[i] / (frames - 1)));
        y.data()[t * y.outerStride() + i] =
            (x.data()[t * x.outerStride() + i] - static_cast<float>(mean[i])) / (deviation + 1e-5f);
      }
  }

 private:
  static void copy(const view<const float>& x, view<float> y) {
    if (x.data() != y.data()) y = x;
  }

  core::size_of<D> width_;
  bool on_ = true;
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
