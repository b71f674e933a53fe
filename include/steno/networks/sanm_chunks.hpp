// steno/networks/sanm_chunks.hpp - the SAN-M encoder on a stream: windows of a piece behind the end of the one before.
//
//   rows    = sinusoid(scale_by_root(x)), positions go on from piece to piece
//   window  = [the last before + after rows of the window before (zeros at first), rows]
//   y       = after_norm(layers(window)); each layer also sees the keys and values it kept of earlier windows
//
// FunASR `SANMEncoderChunkOpt.forward_chunk` (funasr/models/scama/encoder.py). A last piece that is too short for a
// feature has a window of kept rows alone, which the original multiplies by sqrt(D) once more. Tested in
// tests/models/paraformer_online_test.cpp and tests/parity/paraformer_online_test.cpp (golden stages).
#pragma once
#include <steno/networks/sanm_encoder.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace steno::inline STENO_ABI {

/// How a stream is cut, in encoder frames (60 ms each): chunk_size [before, size, after] of the original.
struct chunk_sizes {
  extent before = 0;             ///< heard again, without tokens
  extent size = 10;              ///< a piece
  extent after = 5;              ///< seen ahead: results are so much later
  extent encoder_look_back = 4;  ///< pieces whose keys the encoder still sees; 0: none, -1: all
  extent decoder_look_back = 1;  ///< pieces whose frames the decoder still sees; not positive: none

  extent overlap() const noexcept { return before + after; }
};

/// Copyable; one per stream.
struct sanm_chunks_state {
  std::vector<key_value_cache> layers;
  std::vector<float> rows;  ///< [overlap, Feat], scaled and with positions
  extent position = 0;      ///< rows so far
};

template <class Encoder>
sanm_chunks_state start_chunks(const Encoder& e, const chunk_sizes& sizes) {
  return {
      .layers = std::vector<key_value_cache>(std::get<2>(e.stages).layers.size() + std::get<3>(e.stages).layers.size()),
      .rows = std::vector<float>(static_cast<std::size_t>(sizes.overlap() * e.input_size()))};
}

/// The next piece: features x [n, Feat] -> y [overlap + n, D]. Without features (n = 0) the window is what was kept.
/// `e` is a sanm_main_encoder.
template <class Encoder>
void encode_chunk(const Encoder& e, view<const float, dynamic, Encoder::input> x,
                  view<float, dynamic, Encoder::output> y, sanm_chunks_state& s, const chunk_sizes& sizes, context& c) {
  constexpr extent In = Encoder::input, D = Encoder::output;
  const auto& [scale, positions, first, others, after_norm] = e.stages;
  const extent overlap = sizes.overlap(), width = e.input_size(), n = x.rows();
  workspace::frame scratch(c.scratch);
  auto window = scratch.template matrix<dynamic, In>(overlap + n, width);
  auto kept = make_view<dynamic, In>(s.rows.data(), overlap, width);
  if (n == 0) {
    c.trace("tail_cached_feats", kept);
    scale(as<const float, dynamic, In>(kept), window, c);
  } else {
    c.trace("feats_before_scaling", x);
    window.topRows(overlap) = kept;
    const auto fresh = as<float, dynamic, In>(window.bottomRows(n));
    scale(x, fresh, c);
    positions(as<const float, dynamic, In>(fresh), fresh, c, s.position);
    kept = window.bottomRows(overlap);
  }
  s.position += n;
  c.trace("encoder_layer0_in", window);
  const window_ends ends{.again = sizes.after,
                         .kept = sizes.encoder_look_back < 0 ? -1 : sizes.encoder_look_back * sizes.size};
  const auto past = [&](std::size_t layer) { return sizes.encoder_look_back == 0 ? nullptr : &s.layers[layer]; };
  {
    auto scope = c.enter("encoders0", 0);
    first.layers[0](as<const float, dynamic, In>(window), y, c, past(0), ends);
  }
  for (std::size_t i = 0; i < others.layers.size(); ++i) {
    auto scope = c.enter("encoders", static_cast<extent>(i));
    others.layers[i](as<const float, dynamic, D>(y), y, c, past(i + 1), ends);
  }
  after_norm(as<const float, dynamic, D>(y), y, c);
  c.trace("encoder_out", y);
}

}  // namespace steno::inline STENO_ABI
