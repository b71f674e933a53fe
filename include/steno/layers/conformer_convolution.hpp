// steno/layers/conformer_convolution.hpp - the convolution module of the conformer, causal or symmetric.
//
//   h = glu(pointwise_conv1(x));  y = pointwise_conv2(act(norm(depthwise_conv(h))))
//
// WeNet `ConvolutionModule` (convolution.py), NeMo `ConformerConvolution` (conformer_modules.py). Causal in WeNet: x
// gets Taps - 1 rows of zeros (or the rows before, from the state) on its left BEFORE pointwise_conv1, so what the
// kernel sees left of the first frame is glu(bias), not zeros. Causal in NeMo: zeros, or the state, after the GLU.
// Symmetric: zeros after the GLU; a chunk is then cut off at its borders, as the original does it. Batch norm is folded
// into the depthwise weights when a checkpoint is imported; the layer norm stays. Taps are stored tap by tap [Taps, D];
// even numbers are allowed in causal modules. Tested in tests/networks/u2_encoder_test.cpp (golden stages, caches).
#pragma once
#include <steno/kernels/depthwise.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>

#include <vector>

namespace steno::inline STENO_ABI {

namespace detail {
/// y[i] = a[i] / (1 + exp(-b[i])), x = [a | b]; x is used up.
inline void gated_linear_unit(view<float> x, view<float> y) noexcept {
  const extent d = x.cols() / 2;
  const view<float> gate = write(x.rightCols(d));
  kernels::apply_sigmoid(read(gate), gate);
  y = x.leftCols(d).cwiseProduct(x.rightCols(d));
}
inline void apply_activation(kernels::activation act, view<float> x) noexcept {
  if (act == kernels::activation::relu) kernels::apply_relu(read(x), x);
  if (act == kernels::activation::gelu) kernels::apply_gelu(read(x), x);
  if (act == kernels::activation::silu) kernels::apply_silu(read(x), x);
}
}  // namespace detail

/// Where a causal module puts what came before: in front of pointwise_conv1, or behind the GLU.
enum class convolution_past { before_gate, behind_gate };

template <extent D, extent Taps, extent Causal = dynamic, extent Normed = dynamic,
          convolution_past Past = convolution_past::before_gate, bias B = bias::added>
struct conformer_convolution {
  static constexpr extent input = D, output = D;
  /// The last Taps - 1 frames as Past says, zeros before the first: `cnn_cache`, `cache_last_time`. Empty in symmetric
  /// modules.
  using state = std::vector<float>;

  setting<Causal> causal;
  setting<Normed> normed;  ///< 1: layer norm; 0: none (batch norm went into the depthwise weights)
  linear<D, times(2, D), B> pointwise_conv1;
  weight<Taps, D, dtype::f32, use::rows> taps;
  vector_weight<D> taps_bias;
  layer_norm<D> norm;
  linear<D, D, B> pointwise_conv2;

  void members(auto&& v) {
    v("causal", causal);
    v("cnn_layer_norm", normed);
    v("pointwise_conv1", pointwise_conv1);
    v("depthwise_conv.weight", taps);
    v("depthwise_conv.bias", taps_bias);
    if (normed.get() != 0) v("norm", norm);
    v("pointwise_conv2", pointwise_conv2);
    const extent d = pointwise_conv2.output_size();
    v.equal("output of pointwise_conv1 and twice the width", pointwise_conv1.output_size(), 2 * d);
    v.equal("input of pointwise_conv1 and output of pointwise_conv2", pointwise_conv1.input_size(), d);
    v.equal("widths of depthwise_conv and pointwise_conv2", taps.cols(), d);
    v.equal("weight and bias of depthwise_conv", taps_bias.cols(), d);
    v.equal("input and output of pointwise_conv2", pointwise_conv2.input_size(), d);
    if (normed.get() != 0) v.equal("widths of norm and pointwise_conv2", norm.input_size(), d);
    if (causal.get() == 0) v.equal("taps of a symmetric module and an odd number", taps.rows() | 1, taps.rows());
  }
  extent input_size() const noexcept { return pointwise_conv1.input_size(); }
  extent output_size() const noexcept { return pointwise_conv2.output_size(); }

  state start() const {
    return state(causal.get() != 0 ? static_cast<std::size_t>((taps.rows() - 1) * output_size()) : 0);
  }

  /// x [frames, D] -> y [frames, D]; y may be x. `past` is null for a whole clip.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* past, kernels::activation act,
                  context& c) const noexcept {
    const extent frames = x.rows(), d = output_size(), count = taps.rows();
    const extent lead = causal.get() != 0 ? count - 1 : 0;
    workspace::frame scratch(c.scratch);
    auto gated = scratch.template matrix<dynamic, D>(lead + frames, d);
    {
      workspace::frame inner(c.scratch);
      const bool behind = Past == convolution_past::behind_gate;
      const extent gate_rows = behind ? frames : lead + frames;
      auto wide = inner.template matrix<dynamic, times(2, D)>(gate_rows, 2 * d);
      if (lead > 0 && !behind) {
        auto joined = inner.template matrix<dynamic, D>(lead + frames, d);
        if (past != nullptr)
          joined.topRows(lead) = make_view<dynamic, D>(static_cast<const float*>(past->data()), lead, d);
        else
          joined.topRows(lead).setZero();
        joined.bottomRows(frames) = x;
        if (past != nullptr) make_view<dynamic, D>(past->data(), lead, d) = joined.bottomRows(lead);
        pointwise_conv1(joined, wide, c);
      } else {
        pointwise_conv1(x, wide, c);
      }
      detail::gated_linear_unit(write(wide), write(gated.bottomRows(gate_rows)));
      if (lead > 0 && behind) {
        if (past != nullptr)
          gated.topRows(lead) = make_view<dynamic, D>(static_cast<const float*>(past->data()), lead, d);
        else
          gated.topRows(lead).setZero();
        if (past != nullptr) make_view<dynamic, D>(past->data(), lead, d) = gated.bottomRows(lead);
      }
    }
    auto mixed = scratch.template matrix<dynamic, D>(lead + frames, d);
    kernels::depthwise(read(gated), taps.floats(), count, lead > 0 ? lead : (count - 1) / 2, write(mixed), c.run);
    view<float, dynamic, D> heard = as<float, dynamic, D>(mixed.bottomRows(frames));
    view<float> rows = write(heard);
    rows.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(taps_bias.floats(), d);
    if (normed.get() != 0) norm(as<const float, dynamic, D>(heard), heard, c);
    detail::apply_activation(act, write(heard));
    pointwise_conv2(as<const float, dynamic, D>(heard), y, c);
  }
};

}  // namespace steno::inline STENO_ABI
