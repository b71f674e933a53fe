// steno/networks/u2_encoder.hpp - the unified encoder of WeNet: any chunk size, with caches, or the whole clip at once.
//
//   x = embed(features) sqrt(D) [+ positions];  x = block(x) ...;  y = after_norm(x)
//
// WeNet `BaseEncoder.forward` and `forward_chunk` (encoder.py), normalised features in. A stream's state holds the
// attention's and convolution's caches of every block and the number of frames so far; nothing else carries over,
// because the subsampling sees its overlap again (the caller passes right_context() + 1 - rate frames twice). Positions
// count from the start of the stream, as libtorch's runtime counts. Tested in tests/parity/wenet_test.cpp.
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/conv2d_subsampling.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/repeat.hpp>
#include <steno/networks/conformer_block.hpp>
#include <steno/networks/transformer_block.hpp>

#include <vector>

namespace steno::inline STENO_ABI {

template <class Subsampling, class Block, extent N>
struct u2_encoder {
  static constexpr extent input = Subsampling::input, output = Block::output;
  using block = Block;

  /// Copyable; one per stream.
  struct state {
    std::vector<typename Block::state> blocks;
    extent offset = 0;  ///< frames so far, after subsampling
  };

  flag<dynamic> relative;             ///< 1: positions go to the attention; 0: they are added to the rows
  setting<dynamic, 0, 3> activation;  ///< number of kernels::activation
  Subsampling embed;
  repeat<N, Block> encoders;
  layer_norm<output> after_norm;

  void members(auto&& v) {
    v("relative_positions", relative);
    v("activation", activation);
    v("embed", embed);
    v("encoders", encoders);
    v("after_norm", after_norm);
    v.equal("outputs of embed and after_norm", embed.output_size(), after_norm.input_size());
    v.equal("widths of the blocks and after_norm", encoders.output_size(), after_norm.input_size());
    v.equal("width and an even number", after_norm.input_size() / 2 * 2, after_norm.input_size());
  }
  extent input_size() const noexcept { return embed.input_size(); }
  extent output_size() const noexcept { return after_norm.output_size(); }
  /// Rows that `frames` features give.
  extent rows(extent frames) const noexcept { return embed.rows(frames); }

  state start() const {
    state s;
    s.blocks.reserve(encoders.layers.size());
    for (const Block& b : encoders.layers) s.blocks.push_back(b.start());
    return s;
  }

  /// A whole clip: x [frames, Feat] -> y [rows(frames), D]. `window` limits what is seen (chunk masks); all by default.
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, context& c,
                  const attention_window& window = {}) const {
    run(x, y, nullptr, window, c);
  }
  /// The next chunk of a stream: x [frames, Feat] with the overlap in front -> y [rows(frames), D]. Afterwards each
  /// attention cache keeps `left` rows; all when it is negative.
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state& s, extent left,
                  context& c) const {
    run(x, y, &s, {}, c);
    s.offset += y.rows();
    for (auto& b : s.blocks) b.attention.keep(left);
  }

 private:
  void run(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s,
           const attention_window& window, context& c) const {
    if (y.rows() == 0) return;
    {
      auto scope = c.enter("embed");
      embed(x, y, c);
    }
    kernels::scale(read(y), std::sqrt(static_cast<float>(output_size())), write(y));
    workspace::frame scratch(c.scratch);
    auto positions = scratch.matrix(y.rows(), output_size());
    write_positions(s == nullptr ? 0 : s->offset, positions, c);
    if (relative.get() == 0) kernels::add(read(y), read(positions), write(y));
    c.trace("subsampled", y);
    c.trace("pos_emb", positions);
    const auto act = static_cast<kernels::activation>(activation.get());
    for (std::size_t i = 0; i < encoders.layers.size(); ++i) {
      auto scope = c.enter("layer", static_cast<extent>(i));
      encoders.layers[i](as<const float, dynamic, output>(y), read(positions), y,
                         s == nullptr ? nullptr : &s->blocks[i], window, act, c);
    }
    after_norm(as<const float, dynamic, output>(y), y, c);
    c.trace("encoder_out", y);
  }
};

}  // namespace steno::inline STENO_ABI
