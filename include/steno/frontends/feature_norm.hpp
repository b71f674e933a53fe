// steno/frontends/feature_norm.hpp - normalises the features of a clip, as NeMo does behind its log-mel.
//
//   per_feature:  y[t, b] = (x[t, b] - mean_b) / (deviation_b + 1e-5) over the rows of the clip
//   all_features: the same with one mean and one deviation of all values
//   fixed:        y[t, b] = (x[t, b] - mean_b) / deviation_b with given ones
//
// Deviations have n - 1 in the denominator (0 for one value). NeMo `normalize_batch` (features.py). What hangs on the
// clip needs all rows, so accept() keeps them and finish() gives them all; otherwise rows pass as they come.
// [T, D] -> [T, D]. Tested in tests/frontends/feature_norm_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/frontends/frontend.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// How features are normalised; see the file's comment.
enum class normalisation { none, per_feature, all_features, fixed };

/// Normalises rows of D columns; what hangs on the whole clip comes, in a stream, only when it is finished. Const and
/// shared.
template <extent D = dynamic>
class feature_norm {
 public:
  static constexpr extent input = D, output = D;
  static constexpr std::string_view name = "features";  ///< of the traced stage

  /// Rows of the clip so far. Copyable.
  struct state {
    std::vector<float> kept;  ///< rows that came, one behind the other; empty unless whole_clip()
  };

  feature_norm() = default;
  /// For rows of `width` values, which must be D where that is static (checked in debug builds). `mean` and `deviation`
  /// are those of `fixed`. Throws steno::error unless these have `width` values.
  STENO_COLD feature_norm(extent width, normalisation kind, std::vector<float> mean = {},
                          std::vector<float> deviation = {})
      : width_(width), kind_(kind), mean_(std::move(mean)), deviation_(std::move(deviation)) {
    assert(core::compatible(D, width));
    const auto n = kind == normalisation::fixed ? static_cast<std::size_t>(width) : 0;
    if (mean_.size() != n || deviation_.size() != n)
      fail({.what = "means and deviations of features",
            .expected = std::to_string(n) + " each",
            .found = std::to_string(mean_.size()) + ", " + std::to_string(deviation_.size())});
  }

  /// Whether a row hangs on the whole clip, so that a stream has to wait for its end.
  bool whole_clip() const noexcept {
    return kind_ == normalisation::per_feature || kind_ == normalisation::all_features;
  }
  extent width() const noexcept { return width_.get(); }  ///< values of each row
  extent rows(extent n) const noexcept { return n; }      ///< as many as come in
  state start() const { return {}; }
  /// Rows that accept() of `n` more writes: none of a whole clip, else all of them.
  extent ready(const state&, extent n) const { return whole_clip() ? 0 : n; }
  extent at_end(const state& s, extent n) const { return static_cast<extent>(s.kept.size()) / width() + n; }

  /// Keeps the rows x, or writes them to y.
  void accept(state& s, const view<const float>& x, view<float> y, context& c) const {
    if (!whole_clip()) return (*this)(x, y, c);
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
    switch (kind_) {
      case normalisation::none:
        return copy(x, y);
      case normalisation::fixed:
        return write(x, y, mean_.data(), deviation_.data(), 0);
      default:
        break;
    }
    core::workspace::frame scratch(c.scratch);
    const auto n = static_cast<std::size_t>(width());
    float* const means = scratch.template take<float>(n);
    float* const deviations = scratch.template take<float>(n);
    measure(x, means, deviations, scratch);
    write(x, y, means, deviations, 1e-5f);
  }

 private:
  static void copy(const view<const float>& x, view<float> y) {
    if (x.data() != y.data()) y = x;
  }
  static void write(const view<const float>& x, view<float> y, const float* mean, const float* deviation,
                    float more) noexcept {
    for (extent t = 0; t < x.rows(); ++t)
      for (extent i = 0; i < x.cols(); ++i)
        y.data()[t * y.outerStride() + i] = (x.data()[t * x.outerStride() + i] - mean[i]) / (deviation[i] + more);
  }

  // Sums in double precision, of every column or of all together.
  void measure(const view<const float>& x, float* means, float* deviations, core::workspace::frame& scratch) const {
    const extent n = width();
    const bool apart = kind_ == normalisation::per_feature;
    const auto count = static_cast<double>(apart ? x.rows() : x.rows() * n);
    double* const mean = scratch.template take<double>(static_cast<std::size_t>(n));
    double* const square = scratch.template take<double>(static_cast<std::size_t>(n));
    std::fill_n(mean, n, 0.0);
    std::fill_n(square, n, 0.0);
    const auto each = [&](auto&& f) {
      for (extent t = 0; t < x.rows(); ++t)
        for (extent i = 0; i < n; ++i) f(apart ? i : 0, static_cast<double>(x.data()[t * x.outerStride() + i]));
    };
    each([&](extent i, double v) { mean[i] += v / count; });
    each([&](extent i, double v) { square[i] += (v - mean[i]) * (v - mean[i]); });
    for (extent i = 0; i < n; ++i) {
      const extent from = apart ? i : 0;
      means[i] = static_cast<float>(mean[from]);
      deviations[i] = count < 2 ? 0.0f : static_cast<float>(std::sqrt(square[from] / (count - 1)));
    }
  }

  core::size_of<D> width_;
  normalisation kind_ = normalisation::per_feature;
  std::vector<float> mean_, deviation_;
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
