// steno/layers/positions.hpp - the sinusoids of "Attention is all you need", sine and cosine side by side.
//
//   y[t] = [sin(p w_0), cos(p w_0), sin(p w_1), cos(p w_1), ...],  p = first + t by,  w_i = exp(-2 i ln(10000) / D)
//
// WeNet `PositionalEncoding` (embedding.py), NeMo `RelPositionalEncoding`. The originals keep a table of 5000 rows;
// here any position is computed, in float as the original's table was. Tested in tests/layers/positions_test.cpp and on
// golden stage "pos_emb".
#pragma once
#include <steno/core/context.hpp>

#include <algorithm>
#include <cmath>

namespace steno::inline STENO_ABI {

/// Positions first, first + by, ... into y [rows, D]; D is even.
inline void write_positions(extent first, view<float> y, context& c, extent by = 1) {
  const extent half = y.cols() / 2;
  workspace::frame scratch(c.scratch);
  float* rate = scratch.take<float>(static_cast<std::size_t>(half));
  const auto step = static_cast<float>(-(std::log(10000.0) / static_cast<double>(y.cols())));
  for (extent i = 0; i < half; ++i) rate[i] = std::exp(static_cast<float>(2 * i) * step);
  constexpr extent tile = 8;
  float* const out = y.data();
  const extent rows = y.rows(), stride = y.outerStride();
  c.run.run((rows + tile - 1) / tile, [&](extent n, int) {
    for (extent t = n * tile; t < std::min(rows, (n + 1) * tile); ++t) {
      const auto position = static_cast<float>(first + t * by);
      for (extent i = 0; i < half; ++i) {
        const float angle = position * rate[i];
        out[t * stride + 2 * i] = std::sin(angle);
        out[t * stride + 2 * i + 1] = std::cos(angle);
      }
    }
  });
}

}  // namespace steno::inline STENO_ABI
