// steno/layers/conformer_convolution.hpp - the convolution module of the conformer, causal or symmetric.
//
//   h = glu(pointwise_conv1(x));  y = pointwise_conv2(act(norm(depthwise_conv(h))))
//
// WeNet `ConvolutionModule` (convolution.py), NeMo `ConformerConvolution` (conformer_modules.py). A causal module sees
// Taps - 1 rows of h before the first one: zeros in NeMo. WeNet puts zeros BEFORE pointwise_conv1, so there it sees
// glu(bias). A stream carries rows of h; WeNet carries x (`cnn_cache`) and computes h of it again in every chunk, which
// gives the same numbers. Symmetric: zeros around h; a chunk is then cut off at its borders, as the original does it.
// Batch norm is folded into the depthwise weights when a checkpoint is imported; the layer norm stays. Taps are stored
// tap by tap [Taps, D]; even numbers are allowed in causal modules. Tested in tests/parity/wenet_test.cpp and
// parakeet_test.cpp (golden stages, caches).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/depthwise.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/activate.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>

#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {
/// y[i] = a[i] / (1 + exp(-b[i])), x = [a | b].
template <class X, class Y>
void gated_linear_unit(const X& x, Y y) {
  const extent d = x.cols() / 2;
  kernels::apply_sigmoid(core::read(x.rightCols(d)), y);
  y.array() *= x.leftCols(d).array();
}
}  // namespace detail

/// Where a causal module has its zeros: in front of pointwise_conv1, or behind the GLU.
enum class convolution_padding { before_gate, behind_gate };

/// The convolution module: x [frames, D] -> y [frames, D]; y may be x. Causal and Normed are what the file says where
/// they are dynamic; an even number of taps must be causal, or loading fails.
template <extent D, extent Taps, extent Causal = dynamic, extent Normed = dynamic, class Act = activation_of_env,
          convolution_padding Padding = convolution_padding::before_gate, bias B = bias::added>
struct conformer_convolution {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  /// The last Taps - 1 rows of h: `cache_last_time`, and glu(pointwise_conv1()) of `cnn_cache`. Empty in symmetric
  /// modules.
  using state = std::vector<float>;

  core::flag<Causal> causal;  ///< 1: sees earlier rows alone; 0: as many on either side
  core::flag<Normed> normed;  ///< 1: layer norm; 0: none (batch norm went into the depthwise weights)
  linear<D, core::times(2, D), B> pointwise_conv1;                ///< to twice the width, for the GLU
  weights::weight<Taps, D, dtype::f32, weights::use::rows> taps;  ///< depthwise, [Taps, D]
  weights::vector_weight<D> taps_bias;                            ///< [D], added to each row behind the taps
  layer_norm<D> norm;               ///< behind the depthwise convolution; unused without `normed`
  linear<D, D, B> pointwise_conv2;  ///< behind the activation

  void members(auto&& v) {
    v("causal", causal);
    v("cnn_layer_norm", normed);
    const std::string_view batch_norm = normed.get() != 0 ? "" : "norm";
    v("pointwise_conv1", pointwise_conv1, core::stored::kernel(1));
    v("depthwise_conv.weight", taps, core::stored::taps().after_norm(batch_norm));
    v("depthwise_conv.bias", taps_bias, core::stored{}.after_norm(batch_norm).or_zeros());
    if (normed.get() != 0) v("norm", norm);
    v("pointwise_conv2", pointwise_conv2, core::stored::kernel(1));
    const extent d = pointwise_conv2.output_size();
    v.equal("output of pointwise_conv1 and twice the width", pointwise_conv1.output_size(), 2 * d);
    v.equal("input of pointwise_conv1 and output of pointwise_conv2", pointwise_conv1.input_size(), d);
    v.equal("widths of depthwise_conv and pointwise_conv2", taps.cols(), d);
    v.equal("weight and bias of depthwise_conv", taps_bias.cols(), d);
    v.equal("input and output of pointwise_conv2", pointwise_conv2.input_size(), d);
    if (normed.get() != 0) v.equal("widths of norm and pointwise_conv2", norm.input_size(), d);
    if (causal.get() == 0) v.require(taps.rows() % 2 == 1, "taps of a symmetric module", "an odd number", taps.rows());
  }
  extent input_size() const noexcept { return pointwise_conv1.input_size(); }
  extent output_size() const noexcept { return pointwise_conv2.output_size(); }

  state start() const {
    state s(causal.get() != 0 ? static_cast<std::size_t>((taps.rows() - 1) * output_size()) : 0);
    restart(s);
    return s;
  }
  /// Makes a state what start() gives, in its memory.
  void restart(state& s) const {
    fill_before(core::make_view(s.data(), static_cast<extent>(s.size()) / output_size(), output_size()));
  }

  /// x [frames, D] -> y [frames, D]; y may be x. `s` is null for a whole clip.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* s, const auto& env, context& c,
                  const addend& to = {}) const {
    const extent frames = x.rows(), d = output_size(), count = taps.rows();
    const extent lead = causal.get() != 0 ? count - 1 : 0;
    core::workspace::frame scratch(c.scratch);
    auto gated = scratch.template matrix<dynamic, D>(lead + frames, d);
    {
      core::workspace::frame inner(c.scratch);
      auto wide = inner.template matrix<dynamic, core::times(2, D)>(frames, 2 * d);
      pointwise_conv1.multiply(x, wide, c);
      detail::gated_linear_unit(core::read(wide), core::write(gated.bottomRows(frames)));
    }
    if (lead > 0) {
      if (s != nullptr) {
        auto kept = core::make_view<dynamic, D>(s->data(), lead, d);
        gated.topRows(lead) = kept;
        kept = gated.bottomRows(lead);
      } else {
        fill_before(core::write(gated.topRows(lead)));
      }
    }
    auto mixed = scratch.template matrix<dynamic, D>(frames, d);
    auto rows = core::write(mixed);
    kernels::depthwise(core::read(gated), taps.floats(), count, lead > 0 ? 0 : (count - 1) / 2, rows, c.run);
    rows.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(taps_bias.floats(), d);
    if (normed.get() != 0) norm(core::as<const float, dynamic, D>(mixed), mixed, nullptr, env, c);
    apply_activation(Act::of(env), core::read(rows), rows);
    pointwise_conv2(core::as<const float, dynamic, D>(mixed), y, nullptr, env, c, to);
  }

 private:
  /// What a causal module sees before the first frame.
  void fill_before(view<float> rows) const {
    rows.setZero();
    if constexpr (Padding == convolution_padding::before_gate && B != bias::none) {
      if (const float* of_zeros = pointwise_conv1.b.floats(); of_zeros != nullptr)
        for (extent t = 0; t < rows.rows(); ++t)
          detail::gated_linear_unit(core::make_view(of_zeros, 1, 2 * rows.cols()), core::write(rows.middleRows(t, 1)));
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
