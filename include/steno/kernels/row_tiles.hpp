// steno/kernels/row_tiles.hpp - splits the rows of a matrix into tiles for the executor.
//
// The tile's height depends on the row's length alone, never on the number of workers, so results have the same bits
// for any width. Tested through tests/kernels/norm_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

/// Calls f(first, last) for tiles of about 16384 values (a few microseconds of work).
template <class F>
void run_row_tiles(const executor& run, extent rows, extent cols, F f) {
  const extent tile = std::max<extent>(1, 16384 / std::max<extent>(1, cols));
  run.run((rows + tile - 1) / tile, [&](extent i, int) { f(i * tile, std::min(rows, (i + 1) * tile)); });
}

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno
