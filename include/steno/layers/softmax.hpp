// steno/layers/softmax.hpp - y = e^x / sum(e^x), per row.
//
// x [frames, D]; y may be x. Tested in tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/softmax.hpp>
#include <steno/layers/layer.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Softmax of each row: x [frames, D] -> y [frames, D]; y may be x.
template <extent D>
struct softmax {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  void members(auto&&) {}
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    kernels::softmax(core::read(x), core::write(y), c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
