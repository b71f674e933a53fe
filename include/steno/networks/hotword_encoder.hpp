// steno/networks/hotword_encoder.hpp - a vector for each phrase that a decoder is to favour.
//
//   y[p] = lstm(embed[ids of p])[last]          [phrases, D]
//
// FunASR `SeacoParaformer._hotword_representation` (funasr/models/seaco_paraformer/model.py) and
// `ContextualParaformer.cal_decoder_with_predictor` (contextual_paraformer/model.py). All phrases go step by step
// together, the longest first, so those that are not at their end yet are the first rows. Tested in
// tests/parity/seaco_paraformer_test.cpp and contextual_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/layers/lstm.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Phrases are ids of rows of `embed` [vocabulary, D], one or more; y [phrases, D].
template <extent Vocab, extent D, extent Layers>
STENO_COLD void encode_hotwords(const weights::weight<Vocab, D, dtype::any, weights::use::rows>& embed,
                                const lstm<D, Layers>& net, std::span<const std::vector<int>> phrases,
                                const view<float>& y, context& c) {
  const extent n = static_cast<extent>(phrases.size()), d = net.input_size();
  std::vector<std::size_t> order;
  core::sort_places(order, phrases.size(),
                    [&](std::size_t a, std::size_t b) { return phrases[a].size() > phrases[b].size(); });
  core::workspace::frame scratch(c.scratch);
  auto x = scratch.matrix(n, d), gates = scratch.matrix(n, 4 * d);
  const auto layers = static_cast<extent>(net.layers.size());
  auto h = scratch.matrix(layers * n, d), cell = scratch.matrix(layers * n, d);
  h.setZero();
  cell.setZero();
  const weights::weight_ref rows = embed.ref();
  for (std::size_t step = 0; step < phrases[order[0]].size(); ++step) {
    extent open = 0;  // phrases that have a token left
    for (; open < n && phrases[order[static_cast<std::size_t>(open)]].size() > step; ++open) {
      const int id = phrases[order[static_cast<std::size_t>(open)]][step];
      weights::dequantise(rows.format, rows.row(id), x.data() + open * d, static_cast<std::size_t>(d));
    }
    const float* from = x.data();
    for (extent l = 0; l < layers; ++l) {
      const lstm_weights<D>& w = net.layers[static_cast<std::size_t>(l)];
      const auto now = core::make_view(gates.data(), open, 4 * d);
      const auto out = core::make_view(h.data() + l * n * d, open, d);
      w.read_input(core::make_view(from, open, d), now, c);
      w.step(now, out, core::make_view(cell.data() + l * n * d, open, d), c);
      from = out.data();
    }
  }
  float* const to = view<float>(y).data();
  for (extent i = 0; i < n; ++i)
    std::copy_n(h.data() + ((layers - 1) * n + i) * d, d,
                to + static_cast<extent>(order[static_cast<std::size_t>(i)]) * y.outerStride());
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
