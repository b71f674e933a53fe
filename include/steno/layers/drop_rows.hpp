// steno/layers/drop_rows.hpp - takes away the first rows of a stream's piece, which were seen before.
//
// NeMo `drop_extra_pre_encoded` (`ConformerEncoder.cache_aware_stream_step`): the subsampling sees its overlap again,
// and the rows it makes of it are not new. A whole clip keeps all. Tested in tests/parity/parakeet_test.cpp (chunks).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, D] -> y [frames - drop, D] in a stream, `drop` being the record's.
template <extent D>
struct drop_rows {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  /// Nothing is kept, but whether there is a stream counts.
  struct state {};

  void members(auto&&) {}
  state start() const noexcept { return {}; }
  /// Rows that `frames` give: in a stream (`s` is not null) fewer by the record's `drop`, without one all of them.
  template <class Env>
  extent rows(extent frames, const state* s, const Env& env) const {
    if constexpr (requires { env.drop; })
      if (s != nullptr) return std::max<extent>(frames - env.drop, 0);
    return frames;
  }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state*, const auto&, context&) const {
    const auto last = x.bottomRows(y.rows());
    if (last.data() != y.data()) kernels::scale(core::read(last), 1.0f, core::write(y));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
