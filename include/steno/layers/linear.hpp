// steno/layers/linear.hpp - y = act(x W^T + b).
//
// torch.nn.Linear: weight [Out, In], bias [Out]. x [frames, In] -> y [frames, Out]. The number format of the weight is
// looked at once per call. Tested in tests/layers/linear_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/activation.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <cassert>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// optional: where the checkpoint has one.
enum class bias { none, added, optional };

namespace detail {
/// y = act(factor * (x w^T + b)) + what is added. A factor goes into the product and into the bias: with powers of two
/// the bits are those of a pass of its own. One function for all layers.
template <class = void>
[[gnu::noinline]] void product_with(const view<const float>& x, const weights::weight_ref& w, kernels::epilogue e,
                                    const addend& to, const view<float>& y, context& c) {
  core::workspace::frame scratch(c.scratch);
  e.residual = to.rows;
  e.residual_stride = to.stride;
  if (to.factor != 1) {
    assert(e.act == kernels::activation::none);
    e.scale = to.factor;
    if (e.bias != nullptr) {
      float* const scaled = scratch.take<float>(static_cast<std::size_t>(w.rows));
      for (extent i = 0; i < w.rows; ++i) scaled[i] = to.factor * e.bias[i];
      e.bias = scaled;
    }
  }
  kernels::matmul(x, w, e, y, c);
}
}  // namespace detail

/// torch.nn.Linear and an activation: x [frames, In] -> y [frames, Out]. `Act` is a type of layers/activation.hpp.
template <extent In, extent Out, bias B = bias::added, class Act = identity>
struct linear {
  static constexpr extent input = In, output = Out;

  weights::weight<Out, In> w;     ///< [Out, In]
  weights::vector_weight<Out> b;  ///< [Out]; absent where there is none

  void members(auto&& v) {
    v("weight", w);
    if constexpr (B == bias::added) v("bias", b);
    if constexpr (B == bias::optional) v.optional("bias", b);
    if (B == bias::added || b) v.equal("rows of weight and length of bias", w.rows(), b.cols());
  }
  extent input_size() const noexcept { return w.cols(); }
  extent output_size() const noexcept { return w.rows(); }
  no_state start() const noexcept { return {}; }
  /// Weights are blocks of small integers, so what they are multiplied by is rounded, too.
  bool quantised() const noexcept { return kernels::is_int8(kernels::family_of(w.format)); }

  void operator()(view<const float, dynamic, In> x, view<float, dynamic, Out> y, no_state*, const auto& env, context& c,
                  const addend& to = {}) const {
    detail::product_with(core::read(x), w.ref(), epilogue(Act::of(env)), to, core::write(y), c);
  }

  /// The product of rows x [n, In] alone, for layers that are made of it.
  void multiply(view<const float, dynamic, In> x, view<float, dynamic, Out> y, context& c,
                kernels::activation act = kernels::activation::none) const {
    kernels::matmul(core::read(x), w.ref(), epilogue(act), core::write(y), c);
  }
  /// The same of rows that were prepared once for several products.
  void multiply(const kernels::operand& x, view<float, dynamic, Out> y, context& c,
                kernels::activation act = kernels::activation::none) const {
    kernels::multiply(x, w.ref(), epilogue(act), core::write(y), c);
  }

 private:
  kernels::epilogue epilogue(kernels::activation act) const noexcept {
    kernels::epilogue e;
    if constexpr (B != bias::none) e.bias = b.floats();
    e.act = act;
    return e;
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
