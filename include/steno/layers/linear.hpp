// steno/layers/linear.hpp - y = x W^T + b, perhaps with an activation on the way out.
//
// torch.nn.Linear: weight [Out, In], bias [Out]. x [frames, In] -> y [frames, Out]. The number format of the weight is
// looked at once per call. Tested in tests/layers/linear_test.cpp.
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

namespace steno::inline STENO_ABI {

/// optional: where the checkpoint has one.
enum class bias { none, added, optional };

template <extent In, extent Out, bias B = bias::added>
struct linear {
  static constexpr extent input = In, output = Out;

  weight<Out, In> w;
  vector_weight<Out> b;

  void members(auto&& v) {
    v("weight", w);
    if constexpr (B == bias::added) v("bias", b);
    if constexpr (B == bias::optional) v.optional("bias", b);
    if (B == bias::added || b) v.equal("rows of weight and length of bias", w.rows(), b.cols());
  }
  extent input_size() const noexcept { return w.cols(); }
  extent output_size() const noexcept { return w.rows(); }
  /// Weights are blocks of small integers, so what they are multiplied by is rounded, too.
  bool quantised() const noexcept { return kernels::family_of(w.format) == kernels::weight_family::int8_blocks; }

  void operator()(view<const float, dynamic, In> x, view<float, dynamic, Out> y, context& c,
                  kernels::activation act = kernels::activation::none) const {
    kernels::matmul(read(x), w.ref(), epilogue(act), write(y), c);
  }
  /// The same for rows that were prepared once for several products.
  void operator()(const kernels::operand& x, view<float, dynamic, Out> y, context& c,
                  kernels::activation act = kernels::activation::none) const {
    kernels::multiply(x, w.ref(), epilogue(act), write(y), c);
  }

 private:
  kernels::epilogue epilogue(kernels::activation act) const noexcept {
    kernels::epilogue e;
    if constexpr (B != bias::none) e.bias = b.floats();
    e.act = act;
    return e;
  }
};

}  // namespace steno::inline STENO_ABI
