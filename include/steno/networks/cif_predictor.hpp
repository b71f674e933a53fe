// steno/networks/cif_predictor.hpp - continuous integrate-and-fire: how many tokens a clip has and where they lie.
//
//   alpha[t] = sigmoid(cif_output(relu(cif_conv1d(x)[t])))          kernel 3, zeros outside; no residual
//   the sum of alphas grows frame by frame; where it passes a whole number a token fires, and its vector is the
//   alpha-weighted sum of the frames since the last one, the firing frame's weight split between both
//
// FunASR `CifPredictorV2`, `tail_process_fn` and `cif_v1` (funasr/models/paraformer/cif_predictor.py): one frame of
// zeros with alpha = tail_threshold is appended; the running sum is a double rounded to float. The checkpoint's
// convolution [D, D, 3] is stored as a matrix [D, 3 D], tap by tap. Tested in tests/parity/paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/linear.hpp>
#include <steno/search/scores.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// What has been integrated and not fired yet; a value that goes on with the next frames.
struct cif_state {
  double sum = 0;           ///< of all alphas so far
  std::vector<float> held;  ///< weighted frames since the last token; empty before the first frame
};

/// Integrates frames x [T, D] with weights alphas[T]: a row of `tokens` for each one that fires (room for T rows), and
/// fires[T] = 1 for a firing frame, plus what is left of the running sum. Returns the number of tokens.
STENO_ON_CALL inline extent cif_integrate(const view<const float>& x, const float* alphas, cif_state& s,
                                          view<float> tokens, float* fires) {
  const extent d = x.cols();
  s.held.resize(static_cast<std::size_t>(d), 0.0f);
  extent fired = 0;
  for (extent t = 0; t < x.rows(); ++t) {
    const float before = std::floor(static_cast<float>(s.sum));
    s.sum += static_cast<double>(alphas[t]);
    const auto now = static_cast<float>(s.sum);
    const bool fire = std::floor(now) > before;
    const float left = now - std::floor(now);
    fires[t] = (fire ? 1.0f : 0.0f) + left;
    const float* row = x.data() + t * x.outerStride();
    const float weight = fire ? alphas[t] - left : alphas[t];
    for (extent i = 0; i < d; ++i) s.held[static_cast<std::size_t>(i)] += weight * row[i];
    if (!fire) continue;
    std::copy_n(s.held.data(), d, tokens.data() + fired++ * tokens.outerStride());
    for (extent i = 0; i < d; ++i) s.held[static_cast<std::size_t>(i)] = left * row[i];
  }
  return fired;
}

/// The integration of `CifPredictorV3` (`cif` in funasr/models/bicif_paraformer/cif_predictor.py), in float alone: a
/// sum that starts again after each token; fires[t] is that sum before it does. As many rows of `tokens` as the sum of
/// all alphas has whole parts are written, and their number returned: rows that no frame fired are zeros.
STENO_ON_CALL inline extent cif_fire(const view<const float>& x, const float* alphas, view<float> tokens,
                                     float* fires) {
  const extent d = x.cols();
  double total = 0;
  for (extent t = 0; t < x.rows(); ++t) total += static_cast<double>(alphas[t]);
  const auto count = static_cast<extent>(std::floor(static_cast<float>(total)));
  if (count > 0) tokens.topRows(count).setZero();
  float sum = 0;
  extent fired = 0;
  const auto add = [&](extent to, float weight, const float* row) {
    if (to >= count) return;
    float* const out = tokens.data() + to * tokens.outerStride();
    for (extent i = 0; i < d; ++i) out[i] += weight * row[i];
  };
  for (extent t = 0; t < x.rows(); ++t) {
    const float missing = 1.0f - sum, alpha = alphas[t];
    const float* const row = x.data() + t * x.outerStride();
    sum += alpha;
    fires[t] = sum;
    const bool fire = sum >= 1.0f;
    add(fired, fire ? missing : alpha, row);
    if (!fire) continue;
    sum -= 1.0f;
    add(++fired, alpha - missing, row);
  }
  if (fired < count) tokens.middleRows(fired, count - fired).setZero();
  return count;
}

/// The same piece by piece, as the original's streams do it (`CifPredictorV2.forward_chunk`): a sum in float that
/// starts again after each token, and of what has not fired the weight and the weighted mean.
/// Copyable; one per stream.
struct cif_carry {
  float weight = 0;           ///< of what has not fired
  std::vector<float> hidden;  ///< [D], zeros at first
  std::vector<float> frames;  ///< [D], scratch
};

/// Frames x [T, D] with weights alphas[T] after what is carried: a row of `tokens` for each token (room for T + 1
/// rows). Returns their number.
STENO_ON_CALL inline extent cif_continue(const view<const float>& x, const float* alphas, cif_carry& s,
                                         view<float> tokens) {
  const extent d = x.cols();
  float sum = 0;
  extent fired = 0;
  float* const frames = s.frames.data();
  std::fill_n(frames, d, 0.0f);
  const auto step = [&](float alpha, const float* row) {
    const bool fire = !(alpha + sum < 1.0f);
    const float weight = fire ? 1.0f - sum : alpha;
    for (extent i = 0; i < d; ++i) frames[i] += weight * row[i];
    sum += alpha;
    if (!fire) return;
    std::copy_n(frames, d, tokens.data() + fired++ * tokens.outerStride());
    sum -= 1.0f;
    for (extent i = 0; i < d; ++i) frames[i] = sum * row[i];
  };
  step(s.weight, s.hidden.data());
  for (extent t = 0; t < x.rows(); ++t) step(alphas[t], x.data() + t * x.outerStride());
  s.weight = sum;
  for (extent i = 0; i < d; ++i) s.hidden[static_cast<std::size_t>(i)] = sum > 0 ? frames[i] / sum : frames[i];
  return fired;
}

/// The network that weighs frames, of which cif_integrate() and cif_continue() make tokens. Weights that are no numbers
/// throw scores_error.
template <extent D>
struct cif_predictor {
  static constexpr extent input = D;

  linear<core::times(3, D), D> cif_conv1d;  ///< kernel 3, as a product over three rows side by side
  linear<D, dynamic> cif_output;            ///< to one column, before the sigmoid
  float tail_threshold = 0.45f;             ///< set by the model from the file

  void members(auto&& v) {
    v("cif_conv1d", cif_conv1d, core::stored::kernel(3));
    v("cif_output", cif_output, core::stored::floats());  // decides where tokens begin
    v.equal("input and three times the output of cif_conv1d", cif_conv1d.input_size(), 3 * cif_conv1d.output_size());
    v.equal("output of cif_conv1d and input of cif_output", cif_conv1d.output_size(), cif_output.input_size());
    v.require(cif_output.output_size() == 1, "rows of cif_output", "1", cif_output.output_size());
  }
  extent input_size() const noexcept { return cif_conv1d.output_size(); }
  /// Tokens of a whole clip; see cif_integrate().
  static extent integrate(const view<const float>& x, const float* alphas, view<float> tokens, float* fires) {
    cif_state state;
    return cif_integrate(x, alphas, state, tokens, fires);
  }

  /// x [T, D] -> alphas[T], each in (0, 1).
  void operator()(view<const float, dynamic, D> x, float* alphas, context& c) const {
    const extent frames = x.rows(), d = input_size();
    core::workspace::frame scratch(c.scratch);
    // A row of zeros before and behind: three rows side by side are the convolution's input, rows overlap.
    float* padded = scratch.template take<float>(static_cast<std::size_t>((frames + 2) * d));
    std::fill_n(padded, d, 0.0f);
    std::fill_n(padded + (frames + 1) * d, d, 0.0f);
    core::make_view(padded + d, frames, d) = x;
    auto y = scratch.template matrix<dynamic, D>(frames, d);
    cif_conv1d.multiply(
        core::make_view<dynamic, core::times(3, D)>(static_cast<const float*>(padded), frames, 3 * d, d), y, c);
    c.trace("cif_conv1d", y);
    auto positive = y;
    kernels::apply_relu(core::read(y), core::write(positive));
    auto score = scratch.matrix(frames, 1);
    cif_output.multiply(core::as<const float, dynamic, D>(positive), score, c);
    c.trace("cif_output", score);
    for (extent t = 0; t < frames; ++t) alphas[t] = 1.0f / (1.0f + std::exp(-score.data()[t]));
    search::require_numbers(core::make_view(static_cast<const float*>(alphas), 1, frames), c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
