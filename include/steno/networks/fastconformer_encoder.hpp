// steno/networks/fastconformer_encoder.hpp - NeMo's FastConformer: strided convolutions, then conformer blocks.
//
//   x = pre_encode(features) [sqrt(D)];  y = layer(x) ...
//
// `ConformerEncoder.forward_internal` (conformer_encoder.py), evaluation. Distances are computed for any length, so
// there is no longest clip. A stream's state holds the caches of every layer; nothing else carries over, because the
// subsampling sees its overlap again. Tested in tests/parity/parakeet_test.cpp (golden stages, chunks and caches).
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/depthwise_subsampling.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/relative_attention.hpp>
#include <steno/layers/repeat.hpp>
#include <steno/networks/conformer_block.hpp>

#include <vector>

namespace steno::inline STENO_ABI {

/// Members of a block and of its feed-forward parts as NeMo calls them.
struct nemo_block_names {
  static constexpr std::string_view norm_first = "norm_feed_forward1", first = "feed_forward1",
                                    norm_attention = "norm_self_att", attention = "self_attn",
                                    norm_convolution = "norm_conv", convolution = "conv",
                                    norm_second = "norm_feed_forward2", second = "feed_forward2",
                                    norm_final = "norm_out";
};
struct nemo_feed_forward_names {
  static constexpr std::string_view first = "linear1", second = "linear2";
};

/// Biases are there or not in the whole block, as the checkpoint's use_bias says.
template <extent D, extent Heads, extent Ffn, extent Taps, extent Causal = dynamic, extent Normed = dynamic,
          bias B = bias::optional>
using fastconformer_block =
    conformer_block<nemo_block_names, feed_forward<D, Ffn, kernels::activation::silu, nemo_feed_forward_names, B>,
                    relative_attention<D, Heads, B>,
                    conformer_convolution<D, Taps, Causal, Normed, convolution_past::behind_gate, B>, layer_norm<D>>;

template <class Subsampling, class Block, extent N>
struct fastconformer_encoder {
  static constexpr extent input = Subsampling::input, output = Block::output;
  using block = Block;

  /// Copyable; one per stream.
  struct state {
    std::vector<typename Block::state> layers;
    extent keys = 0, rows = 0;  ///< most of them that the projected distances are for
  };

  flag<dynamic> xscaling;  ///< 1: rows are scaled by sqrt(D)
  Subsampling pre_encode;
  repeat<N, Block> layers;
  attention_window window;  ///< of whole clips; not a member of the checkpoint

  void members(auto&& v) {
    v("xscaling", xscaling);
    v("pre_encode", pre_encode);
    v("layers", layers);
    v.equal("outputs of pre_encode and the layers", pre_encode.output_size(),
            layers.empty() ? pre_encode.output_size() : layers.output_size());
    v.equal("width and an even number", pre_encode.output_size() / 2 * 2, pre_encode.output_size());
  }
  extent input_size() const noexcept { return pre_encode.input_size(); }
  extent output_size() const noexcept { return pre_encode.output_size(); }
  /// Rows that `frames` features give.
  extent rows(extent frames) const noexcept { return pre_encode.rows(frames); }

  state start() const {
    state s;
    s.layers.reserve(layers.layers.size());
    for (const Block& b : layers.layers) s.layers.push_back(b.start());
    return s;
  }

  /// A whole clip: x [frames, Feat] -> y [rows(frames), D], seen through `w`.
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, context& c,
                  const attention_window& w) const {
    if (y.rows() == 0) return;
    pre_encode(x, y, c);
    run(y, nullptr, w, c);
  }
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, context& c) const {
    (*this)(x, y, c, window);
  }
  /// Rows that pre_encode made, y [rows, D] in place (`bypass_pre_encode` of the original).
  void layers_only(view<float, dynamic, output> y, context& c) const {
    if (y.rows() > 0) run(y, nullptr, window, c);
  }
  /// The next chunk of a stream: x [frames, Feat] with the overlap in front, whose first `drop` rows are not new -> y
  /// [rows(frames) - drop, D]. All of the chunk and of the cache is seen; afterwards each cache keeps `left` rows.
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state& s, extent drop,
                  extent left, context& c) const {
    if (y.rows() == 0) return;
    if (drop > 0) {
      workspace::frame scratch(c.scratch);
      auto all = scratch.template matrix<dynamic, output>(y.rows() + drop, y.cols());
      pre_encode(x, all, c);
      y = all.bottomRows(y.rows());
    } else {
      pre_encode(x, y, c);
    }
    if (left >= 0) prepare(s, left + y.rows(), y.rows(), c);
    run(y, &s, {}, c);
    for (auto& b : s.layers) b.attention.keep(left);
  }

 private:
  // With a bound on what is kept, the distances of a stream are projected once.
  void prepare(state& s, extent keys, extent rows, context& c) const {
    if (keys <= s.keys && rows <= s.rows) return;
    s.keys = std::max(s.keys, keys);
    s.rows = std::max(s.rows, rows);
    workspace::frame scratch(c.scratch);
    auto positions = scratch.matrix(s.keys + s.rows - 1, output_size());
    write_positions(s.keys - 1, positions, c, -1);
    for (std::size_t i = 0; i < layers.layers.size(); ++i)
      layers.layers[i].attention.prepare(read(positions), s.keys - 1, s.layers[i].attention, c);
  }
  void run(view<float, dynamic, output> y, state* s, const attention_window& w, context& c) const {
    c.trace("subsampling_out", y);
    if (xscaling.get() != 0) kernels::scale(read(y), std::sqrt(static_cast<float>(output_size())), write(y));
    c.trace("pos_enc_x", y);
    const extent before = s == nullptr || s->layers.empty() ? 0 : s->layers.front().attention.rows();
    const extent keys = before + y.rows();
    workspace::frame scratch(c.scratch);
    const bool prepared = s != nullptr && s->keys > 0;
    auto positions = scratch.matrix(prepared ? 0 : keys + y.rows() - 1, output_size());
    write_positions(keys - 1, positions, c, -1);
    if (!prepared) c.trace("pos_emb", positions);
    for (std::size_t i = 0; i < layers.layers.size(); ++i) {
      auto scope = c.enter("layer", static_cast<extent>(i));
      layers.layers[i](as<const float, dynamic, output>(y), read(positions), y, s == nullptr ? nullptr : &s->layers[i],
                       w, kernels::activation::silu, c);
    }
    c.trace("encoder_out", y);
  }
};

/// The published sizes: 8 heads, feed-forward parts of 4 D, 9 taps, 256 channels in the subsampling. `Streaming`: the
/// convolutions are causal and have a layer norm.
template <extent Mels, extent D, extent Layers, bias B, extent Streaming = 0>
using fastconformer = fastconformer_encoder<depthwise_subsampling<Mels, 256, D, Streaming>,
                                            fastconformer_block<D, 8, 4 * D, 9, Streaming, Streaming, B>, Layers>;

/// Extents are adopted from the file.
using fastconformer_encoder_any =
    fastconformer_encoder<depthwise_subsampling<dynamic, dynamic, dynamic>,
                          fastconformer_block<dynamic, dynamic, dynamic, dynamic>, dynamic>;

}  // namespace steno::inline STENO_ABI
