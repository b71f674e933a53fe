// steno/layers/window_overlap.hpp - a stream's windows: the end of the one before, then the new rows.
//
//   y = [the last `overlap` rows of the window before (zeros at first), x];  a whole clip: y = x
//
// FunASR `SANMEncoderChunkOpt._add_overlap_chunk` (funasr/models/scama/encoder.py). A last piece that is too short for
// a feature has a window of kept rows alone, which the original multiplies by sqrt(D) once more. Tested in
// tests/models/paraformer_online_test.cpp and tests/parity/paraformer_online_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <cmath>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, Feat] -> y [overlap + frames, Feat] in a stream, `overlap` being the record's; y may be x in a whole
/// clip.
template <extent Feat, extent D>
struct window_overlap {
  static constexpr extent input = Feat, output = Feat;
  static constexpr bool in_place = true;
  /// What a stream keeps: the end of its last window.
  struct state {
    std::vector<float> rows;  ///< [overlap, Feat]; empty: zeros
  };

  core::setting<D> output_width;  ///< D: what a window without new rows is scaled by the root of

  void members(auto&& v) { v("output_size", output_width); }
  state start() const { return {}; }
  /// Rows that `frames` give: in a stream (`s` is not null) more by the record's `overlap`.
  template <class Env>
  extent rows(extent frames, const state* s, const Env& env) const {
    if constexpr (requires { env.overlap; })
      if (s != nullptr) return env.overlap + frames;
    return frames;
  }

  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, Feat> y, state* s, const auto& env,
                  context& c) const {
    if constexpr (requires { env.overlap; }) {
      if (s != nullptr) return join(x, y, *s, env.overlap, c);
    }
    if (x.data() != y.data()) kernels::scale(core::read(x), 1.0f, core::write(y));
  }

 private:
  void join(view<const float, dynamic, Feat> x, view<float, dynamic, Feat> y, state& s, extent overlap,
            context& c) const {
    s.rows.resize(static_cast<std::size_t>(overlap * y.cols()));
    auto kept = core::make_view<dynamic, Feat>(s.rows.data(), overlap, y.cols());
    if (x.rows() == 0) {
      c.trace("tail_cached_feats", kept);
      kernels::scale(core::read(kept), std::sqrt(static_cast<float>(output_width.get())), core::write(y));
    } else {
      y.topRows(overlap) = kept;
      y.bottomRows(x.rows()) = x;
      kept = y.bottomRows(overlap);
    }
    c.trace("encoder_layer0_in", y);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
