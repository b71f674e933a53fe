// steno/networks/bicif_predictor.hpp - two predictors of one encoder: how many tokens a clip has, and when each was
// spoken, three times as finely.
//
//   the first one is cif_predictor's network; its weights fire as cif_fire() says
//   beta[t] = relu(smooth_factor2 * sigmoid(cif_output2(blstm(upsample_cnn(x)))[t]) - noise_threshold2)      3 T values
//   beta is scaled to sum to the number of tokens;  a peak is where its running sum reaches 1 - 1e-4
//
// FunASR `CifPredictorV3` (funasr/models/bicif_paraformer/cif_predictor.py): `get_upsample_timestamp` with
// `upsample_type: cnn_blstm` and `use_cif1_cnn: false`, `cif_wo_hidden`. The times are made of it in
// search/cif_times.hpp. Tested in tests/parity/bicif_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/bidirectional_lstm.hpp>
#include <steno/layers/spread_rows.hpp>
#include <steno/networks/cif_predictor.hpp>
#include <steno/search/cif_times.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// cif_predictor with a second head for times.
template <extent D>
struct bicif_predictor : cif_predictor<D> {
  static constexpr extent upsampling = 3;  ///< values of the second head for each frame

  spread_rows<D, upsampling> upsample_cnn;         ///< three rows of each
  bidirectional_lstm<D> blstm;                     ///< over all of them
  linear<core::times(2, D), dynamic> cif_output2;  ///< to one column, before the sigmoid
  float smooth_factor2 = 1;                        ///< set by the model from the file
  float noise_threshold2 = 0;                      ///< the same

  void members(auto&& v) {
    cif_predictor<D>::members(v);
    v("upsample_cnn", upsample_cnn);
    v("blstm", blstm);
    v("cif_output2", cif_output2, core::stored::floats());  // decides where tokens begin
    v.equal("widths of cif_conv1d and upsample_cnn", this->input_size(), upsample_cnn.input_size());
    v.equal("widths of upsample_cnn and blstm", upsample_cnn.output_size(), blstm.input_size());
    v.equal("output of blstm and input of cif_output2", blstm.output_size(), cif_output2.input_size());
    v.require(cif_output2.output_size() == 1, "rows of cif_output2", "1", cif_output2.output_size());
  }
  /// Tokens of a whole clip; see cif_fire().
  static extent integrate(const view<const float>& x, const float* alphas, view<float> tokens, float* fires) {
    return cif_fire(x, alphas, tokens, fires);
  }

  /// x [T, D] with `tokens` tokens -> betas[3 T], scaled, and their running sum peaks[3 T], before a peak takes 1 -
  /// 1e-4 from it. Weights that are no numbers throw scores_error.
  void upsample(view<const float, dynamic, D> x, extent tokens, float* betas, float* peaks, context& c) const {
    const extent n = upsampling * x.rows();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, D>(n, this->input_size());
    upsample_cnn(x, rows, nullptr, no_env{}, c);
    c.trace("upsample_cnn", rows);
    auto both = scratch.template matrix<dynamic, core::times(2, D)>(n, blstm.output_size());
    blstm(core::as<const float, dynamic, D>(rows), both, nullptr, no_env{}, c);
    c.trace("upsample_blstm", both);
    auto score = scratch.matrix(n, 1);
    cif_output2.multiply(core::as<const float, dynamic, core::times(2, D)>(both), score, c);
    c.trace("cif_output2", score);
    double total = 0;
    for (extent t = 0; t < n; ++t) {
      const float weight = 1.0f / (1.0f + std::exp(-score.data()[t]));
      betas[t] = std::max(weight * smooth_factor2 - noise_threshold2, 0.0f);
      total += static_cast<double>(betas[t]);
    }
    search::require_numbers(core::read(score), c.run);
    const float factor = static_cast<float>(tokens) / static_cast<float>(total);
    if (total > 0)
      for (extent t = 0; t < n; ++t) betas[t] *= factor;
    search::cif_peaks({betas, static_cast<std::size_t>(n)}, peaks);
    c.trace("us_alphas", core::make_view(static_cast<const float*>(betas), 1, n));
    c.trace("us_peaks", core::make_view(static_cast<const float*>(peaks), 1, n));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
