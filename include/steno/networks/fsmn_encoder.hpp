// steno/networks/fsmn_encoder.hpp - FSMN-VAD's network: what each frame is, from itself and a fixed stretch before it.
//
//   y = relu(in_linear2(in_linear1(x)));  each layer: p = linear(y), y = relu(affine(p + memory(p)));
//   scores = softmax(out_linear2(out_linear1(y)))
//
// FunASR `FSMN` (funasr/models/fsmn_vad_streaming/encoder.py) with memory to the left only. A stream carries the last
// Taps - 1 rows of every layer's projection; a clip is a stream that begins with zeros, so cutting makes no difference.
// Tested in tests/parity/fsmn_vad_test.cpp.
#pragma once
#include <steno/decoders/scores.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/repeat.hpp>

#include <cstring>
#include <vector>

namespace steno::inline STENO_ABI {

namespace detail {
/// A layer one name further down, as the original wraps torch.nn.Linear.
template <class Linear>
struct wrapped_linear : Linear {
  void members(auto&& v) { v("linear", static_cast<Linear&>(*this)); }
};
template <class Fsmn>
struct wrapped_memory : Fsmn {
  void members(auto&& v) { v("conv_left.weight", this->taps); }
};
}  // namespace detail

/// One layer, W values wide, with a memory of P values over Taps frames.
template <extent W, extent P, extent Taps>
struct fsmn_block {
  static constexpr extent input = W, output = W;

  detail::wrapped_linear<steno::linear<W, P, bias::none>> linear;
  detail::wrapped_memory<fsmn<Taps, P>> memory;
  detail::wrapped_linear<steno::linear<P, W>> affine;

  void members(auto&& v) {
    v("linear", linear);
    v("fsmn_block", memory);
    v("affine", affine);
    v.equal("widths of linear and fsmn_block", linear.output_size(), memory.input_size());
    v.equal("widths of fsmn_block and affine", memory.output_size(), affine.input_size());
  }
  extent input_size() const noexcept { return linear.input_size(); }
  extent output_size() const noexcept { return affine.output_size(); }

  /// Rows of projections that the next frames need.
  extent carried() const noexcept { return memory.taps.rows() - 1; }

  /// x [frames, W] -> y [frames, W], y may be x; carry [Taps - 1, P] is read and moved on.
  void operator()(view<const float, dynamic, W> x, view<float, dynamic, W> y, float* carry, context& c) const {
    const extent before = carried(), frames = x.rows(), p = memory.input_size();
    const auto bytes = static_cast<std::size_t>(before * p) * sizeof(float);
    workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, P>(before + frames, p);
    if (bytes != 0) std::memcpy(rows.data(), carry, bytes);
    auto projected = as<float, dynamic, P>(rows.bottomRows(frames));
    linear(x, projected, c);
    c.trace("proj", projected);
    auto mixed = scratch.template matrix<dynamic, P>(frames, p);
    memory.one_sided(rows, mixed, c);
    kernels::add(read(projected), read(mixed), write(mixed));
    c.trace("memory", mixed);
    if (bytes != 0) std::memmove(carry, rows.data() + frames * p, bytes);
    affine(mixed, y, c, kernels::activation::relu);
    c.trace("out", y);
  }
};

template <extent Feat, extent In, extent W, extent P, extent Taps, extent Layers, extent Out, extent Classes>
struct fsmn_encoder {
  static constexpr extent input = Feat, output = Classes;

  detail::wrapped_linear<linear<Feat, In>> in_linear1;
  detail::wrapped_linear<linear<In, W>> in_linear2;
  repeat<Layers, fsmn_block<W, P, Taps>> blocks;
  detail::wrapped_linear<linear<W, Out>> out_linear1;
  detail::wrapped_linear<linear<Out, Classes>> out_linear2;

  void members(auto&& v) {
    v("in_linear1", in_linear1);
    v("in_linear2", in_linear2);
    v("fsmn", blocks);
    v("out_linear1", out_linear1);
    v("out_linear2", out_linear2);
    v.equal("widths of in_linear1 and in_linear2", in_linear1.output_size(), in_linear2.input_size());
    v.equal("widths of in_linear2 and fsmn", in_linear2.output_size(), blocks.input_size());
    v.equal("widths of fsmn and out_linear1", blocks.output_size(), out_linear1.input_size());
    v.equal("widths of out_linear1 and out_linear2", out_linear1.output_size(), out_linear2.input_size());
  }
  extent input_size() const noexcept { return in_linear1.input_size(); }
  extent output_size() const noexcept { return out_linear2.output_size(); }

  /// The memories of a stream, at its beginning.
  std::vector<float> start() const {
    std::size_t n = 0;
    for (const auto& l : blocks.layers) n += static_cast<std::size_t>(l.carried() * l.memory.input_size());
    return std::vector<float>(n, 0.0f);
  }

  /// The next frames: x [frames, Feat] -> probabilities y [frames, Classes]. `memories` is start() or what the last
  /// call left.
  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, Classes> y, std::vector<float>& memories,
                  context& c) const {
    const extent frames = x.rows();
    workspace::frame scratch(c.scratch);
    auto first = scratch.template matrix<dynamic, In>(frames, in_linear1.output_size());
    in_linear1(x, first, c);
    c.trace("in_linear1", first);
    auto rows = scratch.template matrix<dynamic, W>(frames, in_linear2.output_size());
    in_linear2(first, rows, c, kernels::activation::relu);
    c.trace("in_linear2_relu", rows);
    float* carry = memories.data();
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      const auto& l = blocks.layers[i];
      auto s = c.enter("fsmn", static_cast<extent>(i));
      l(rows, rows, carry, c);
      carry += l.carried() * l.memory.input_size();
    }
    auto last = scratch.template matrix<dynamic, Out>(frames, out_linear1.output_size());
    out_linear1(rows, last, c);
    c.trace("out_linear1", last);
    out_linear2(last, y, c);
    c.trace("logits", y);
    kernels::softmax(read(y), write(y), c.run);
    require_numbers(read(y));
    c.trace("scores", y);
  }
};

}  // namespace steno::inline STENO_ABI
