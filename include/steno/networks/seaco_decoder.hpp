// steno/networks/seaco_decoder.hpp - a decoder that looks at hotwords in place of an encoder's rows, and which of many
// it looks at.
//
//   seaco_decoder: sanm_decoder_body over tokens [n, D], whose `encoded` are the vectors of hotwords [m, D]
//   hotword_scores: layers 0 to 4, then the attention of layer 5 to each hotword, summed over heads and tokens
//
// FunASR `SeacoParaformer._seaco_decode_with_ASF` (funasr/models/seaco_paraformer/model.py) and
// `ParaformerSANMDecoder.forward_asf6` (funasr/models/paraformer/decoder.py). Tested in
// tests/parity/seaco_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/error.hpp>
#include <steno/networks/sanm_decoder.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The layer of a seaco_decoder whose attention says which hotwords count, from 0.
inline constexpr extent hotword_layer = 5;

/// How much tokens x [n, D] look at each of the hotwords [m, D]: scores[m]. Throws steno::error for a decoder without
/// that layer.
template <sanm_decoder_sizes S>
STENO_COLD void hotword_scores(const sanm_decoder_body<S>& decoder, view<const float, dynamic, S.width> x,
                               const view<const float>& hotwords, float* scores, context& c) {
  const auto& layers = decoder.template get<"decoders">();
  if (layers.size() <= hotword_layer)
    fail({.what = "so many hotwords",
          .expected =
              "a model whose seaco_decoder has " + std::to_string(hotword_layer + 1) + " layers, or fewer of them",
          .found = std::to_string(hotwords.rows() - 1) + " hotwords, " + std::to_string(layers.size()) + " layers"});
  auto scope = c.enter("asf");
  const extent n = x.rows(), m = hotwords.rows(), d = x.cols();
  core::workspace::frame scratch(c.scratch);
  const sanm_decoder_env env{.encoded = prepare_encoded(decoder, hotwords, scratch, c.run)};
  auto rows = scratch.template matrix<dynamic, S.width>(n, d);
  rows = x;
  for (extent i = 0; i < hotword_layer; ++i)
    layers[i](core::as<const float, dynamic, S.width>(rows), rows, nullptr, env, c);
  const auto& last = layers[hotword_layer];
  last.memory()(core::as<const float, dynamic, S.width>(rows), rows, nullptr, env, c);
  last.template get<"norm3">()(core::as<const float, dynamic, S.width>(rows), rows, nullptr, env, c);
  const auto& attention = last.template get<"src_attn">();
  const extent heads = attention.heads();
  float* const all = scratch.template take<float>(static_cast<std::size_t>(heads * n * m));
  attention.probabilities(core::as<const float, dynamic, S.width>(rows), env.encoded, all, c);
  c.trace("attention", core::make_view(static_cast<const float*>(all), heads * n, m));
  std::fill_n(scores, m, 0.0f);
  for (extent t = 0; t < n; ++t)
    for (extent j = 0; j < m; ++j) {
      float sum = 0;
      for (extent h = 0; h < heads; ++h) sum += all[(h * n + t) * m + j];
      scores[j] += sum;
    }
  c.trace("scores", core::make_view(static_cast<const float*>(scores), 1, m));
}

/// The numbers of the `count` best scores, the best one first; of equal ones the first.
STENO_ON_CALL STENO_COLD inline std::vector<extent> best_hotwords(const float* scores, extent m, extent count) {
  std::vector<std::size_t> order;
  core::sort_places(order, static_cast<std::size_t>(m),
                    [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return {order.begin(), order.begin() + std::min(count, m)};
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
