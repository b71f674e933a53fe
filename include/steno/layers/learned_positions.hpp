// steno/layers/learned_positions.hpp - adds a row of the checkpoint's own table to each row.
//
//   y[t] = x[t] + table[t]
//
// Whisper's `positional_embedding` (sinusoids as well, but half precision in the published files). x [frames, D], up
// to Rows frames; y may be x. Tested on golden stages in tests/parity/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Adds row t of a table to row t of x [frames, D]; y may be x. More frames than rows throw steno::error.
template <extent Rows, extent D>
struct learned_positions {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  weights::weight<Rows, D, dtype::f32, weights::use::rows> table;  ///< a row for each position

  void members(auto&& v) { v("", table); }
  extent input_size() const noexcept { return table.cols(); }
  extent output_size() const noexcept { return table.cols(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&, context&) const {
    if (x.rows() > table.rows())
      fail({.what = "rows that have a position",
            .expected = "up to " + std::to_string(table.rows()),
            .found = std::to_string(x.rows())});
    kernels::add(core::read(x), core::read(table.values().topRows(x.rows())), core::write(y));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
