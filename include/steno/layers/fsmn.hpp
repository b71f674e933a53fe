// steno/layers/fsmn.hpp - FSMN memory: a depthwise convolution over time.
//
//   y[t] = sum_j taps[j] * x[t + j - left],  rows outside of the clip are zero
//
// FunASR `MultiHeadedAttentionSANM.forward_fsmn` (without its residual, which is the stack's). taps [Taps, D]: the
// checkpoint's (D, 1, Taps) is stored transposed, tap by tap. Symmetric: left = (Taps - 1) / 2. One-sided: left = Taps
// - 1, so a stream carries the last Taps - 1 rows. FSMN-VAD's `FSMNBlock` (lorder taps) is always one-sided;
// Paraformer's decoder is symmetric over a whole text and one-sided in a stream (`forward_chunk`). Exact f32. Tested in
// tests/layers/fsmn_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/depthwise.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Which rows a memory sees: those around the present one (in a stream those before), or those before it alone. A
/// kernel of `left` is stored with a second axis (FSMN-VAD), one of `causal` with one, as around both.
enum class fsmn_sides { both, left, causal };

/// A depthwise convolution over time: x [frames, D] -> y [frames, D]; y must not be x. In a stream it is one-sided, and
/// with fsmn_sides::left and causal always.
template <extent Taps, extent D, fsmn_sides Sides = fsmn_sides::both>
struct fsmn {
  static constexpr extent input = D, output = D;
  /// The last Taps - 1 rows; zeros at first.
  using state = std::vector<float>;

  weights::weight<Taps, D, dtype::f32, weights::use::rows> taps;  ///< tap by tap, [Taps, D]

  void members(auto&& v) { v("weight", taps, core::stored::taps(Sides == fsmn_sides::left ? 1 : 0)); }
  extent input_size() const noexcept { return taps.cols(); }
  extent output_size() const noexcept { return taps.cols(); }
  state start() const { return state(static_cast<std::size_t>(before() * taps.cols())); }

  /// x [frames, D] -> y [frames, D]; y must not be x. With an addend y = to.rows + to.factor times the memory.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* s, const auto&, context& c,
                  const addend& to = {}) const {
    const kernels::depthwise_sum sum{.rows = to.rows, .stride = to.stride, .factor = to.factor};
    if (Sides == fsmn_sides::both && s == nullptr)
      return kernels::depthwise(core::read(x), taps.floats(), taps.rows(), before() / 2, core::write(y), c.run, sum);
    const extent d = x.cols(), n = x.rows();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, D>(before() + n, d);
    if (s == nullptr)
      rows.topRows(before()).setZero();
    else
      rows.topRows(before()) = core::make_view<dynamic, D>(s->data(), before(), d);
    rows.bottomRows(n) = x;
    kernels::depthwise(core::read(rows), taps.floats(), taps.rows(), 0, core::write(y), c.run, sum);
    if (s != nullptr) core::make_view<dynamic, D>(s->data(), before(), d) = rows.bottomRows(before());
  }

 private:
  extent before() const noexcept { return taps.rows() - 1; }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
