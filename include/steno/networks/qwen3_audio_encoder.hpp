// steno/networks/qwen3_audio_encoder.hpp - Qwen's audio tower (AuT): log-mel frames to rows of a language model.
//
//   chunks of 100 frames, each by itself: x = conv_out(gelu(conv2d3(gelu(conv2d2(gelu(conv2d1(mel)))))))   13 rows
//   x += sinusoids(row of the chunk)
//   layers, in blocks of 8 chunks (104 rows): x += self_attn(self_attn_layer_norm(x));
//                                             x += fc2(gelu(fc1(final_layer_norm(x))))
//   y = proj2(gelu(proj1(ln_post(x))))
//
// `Qwen3ASRAudioEncoder` (modeling_qwen3_asr.py). The last chunk is filled up with zeros unless it is the only one; the
// rows that makes too many are dropped. Rows never look beyond their block, so blocks are computed one after another
// and a long recording needs no more memory than a short one. Tested on golden stages in
// tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/conv2d_halving.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>

#include <algorithm>
#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Each row sees the block that it is one of: the record's `window`.
template <extent D, extent Heads, extent Ffn>
struct qwen3_audio_layer
    : sequence<residual<at<"self_attn_layer_norm", layer_norm<D>>,
                        at<"self_attn", attention<separate_products<
                                            D, Heads, attention_names<"q_proj", "k_proj", "v_proj", "out_proj">>>>>,
               residual<at<"final_layer_norm", layer_norm<D>>, at<"fc1", linear<D, Ffn, bias::added, gelu>>,
                        at<"fc2", linear<Ffn, D>>>> {};
/// The record of a call.
struct qwen3_audio_env {
  /// The frames are all there is, so a single short chunk stays short; frames of a longer recording come in whole
  /// blocks, and only the last piece may be shorter.
  bool alone = true;
};

/// Frames to rows of the layers, chunk by chunk: three convolutions, a product and positions. Written by hand, because
/// chunks are convolved one by one and multiplied together.
template <extent Mels, extent D, extent Channels, extent Window>
struct qwen3_audio_stem {
  /// The first convolution: mel bands of one channel.
  using first_type = conv2d_halving<Mels, 1, Channels, gelu>;
  static constexpr extent bands1 = first_type::halved(Mels);    ///< bands behind the first convolution
  static constexpr extent bands2 = first_type::halved(bands1);  ///< bands behind the second
  /// `conv2d1` to `conv2d3`, each with its gelu.
  using convolutions_type =
      sequence<at<"conv2d1", first_type>, at<"conv2d2", conv2d_halving<bands1, Channels, Channels, gelu>>,
               at<"conv2d3", conv2d_halving<bands2, Channels, Channels, gelu>>>;
  static constexpr extent input = Mels, output = D;
  static constexpr extent flat = convolutions_type::output;  ///< columns behind the convolutions

  core::setting<Mels, 1, 1024> num_mel_bins;  ///< columns of the features
  core::setting<Window, 4> n_window;          ///< half the frames of a chunk
  convolutions_type convolutions;             ///< of the frames of one chunk
  linear<flat, D, bias::none> conv_out;       ///< to D columns, without a bias

  void members(auto&& v) {
    v("num_mel_bins", num_mel_bins);
    v("n_window", n_window);
    const extent n = num_mel_bins.get();
    convolutions.template get<"conv2d1">().bands = core::size_of<Mels>(n);
    convolutions.template get<"conv2d2">().bands = core::size_of<bands1>(first_type::halved(n));
    convolutions.template get<"conv2d3">().bands = core::size_of<bands2>(first_type::halved(first_type::halved(n)));
    convolutions.members(v);
    v("conv_out", conv_out, core::stored::bands_first(convolutions.template get<"conv2d3">().channels_out()));
    const extent channels = convolutions.template get<"conv2d1">().channels_in();
    v.require(channels == 1, "channels that conv2d1 reads", "1", channels);
    v.equal("input of conv_out and output of conv2d3", conv_out.input_size(), convolutions.output_size());
  }
  extent input_size() const noexcept { return num_mel_bins.get(); }
  extent output_size() const noexcept { return conv_out.output_size(); }
  no_state start() const noexcept { return {}; }

  /// Frames of a chunk: 100.
  extent chunk() const noexcept { return 2 * n_window.get(); }
  /// Rows of a whole chunk: 13.
  extent chunk_rows() const noexcept { return convolutions.rows(chunk()); }
  /// Rows that `frames` give, those of a last chunk that is not whole included.
  extent rows(extent frames) const { return frames / chunk() * chunk_rows() + convolutions.rows(frames % chunk()); }

  /// x [frames, Mels] -> y [rows(frames), D]; of the record `alone`, see qwen3_audio_env.
  template <class Env>
  void operator()(view<const float, dynamic, Mels> x, view<float, dynamic, D> y, no_state*, const Env& env,
                  context& c) const {
    extent size = chunk();
    if constexpr (requires { env.alone; })
      if (env.alone && x.rows() < size) size = std::max<extent>(x.rows(), 1);
    const extent each = convolutions.rows(size), chunks = (x.rows() + size - 1) / size;
    core::workspace::frame scratch(c.scratch);
    auto made = scratch.template matrix<dynamic, flat>(chunks * each, conv_out.input_size());
    for (extent i = 0; i < chunks; ++i) {
      const extent first = i * size, frames = std::min(size, x.rows() - first);
      convolve(x.middleRows(first, frames), size, made.middleRows(i * each, each), c);
    }
    if (c.tracing()) show(made, each, c);
    auto all = scratch.template matrix<dynamic, D>(chunks * each, y.cols());
    conv_out.multiply(made, all, c);
    c.trace("conv_out", all);
    auto positions = scratch.template matrix<dynamic, D>(each, y.cols());
    sinusoids(positions);
    for (extent t = 0; t < y.rows(); t += each) {
      const extent n = std::min(each, y.rows() - t);
      kernels::add(core::read(all.middleRows(t, n)), core::read(positions.topRows(n)), core::write(y.middleRows(t, n)));
    }
  }

 private:
  // One chunk x, filled up with zeros to `size` frames.
  void convolve(view<const float, dynamic, Mels> x, extent size, view<float, dynamic, flat> y, context& c) const {
    if (x.rows() == size) return convolutions(x, y, nullptr, no_env{}, c);
    core::workspace::frame scratch(c.scratch);
    auto padded = scratch.template matrix<dynamic, Mels>(size, x.cols());
    padded.topRows(x.rows()) = x;
    padded.bottomRows(size - x.rows()).setZero();
    convolutions(core::as<const float, dynamic, Mels>(padded), y, nullptr, no_env{}, c);
  }

  // As torch makes them: single precision, sines before cosines.
  static void sinusoids(view<float, dynamic, D> y) {
    const extent half = y.cols() / 2;
    const auto step = static_cast<float>(-std::log(10000.0) / static_cast<double>(half - 1));
    for (extent i = 0; i < half; ++i) {
      const float rate = std::exp(step * static_cast<float>(i));
      for (extent t = 0; t < y.rows(); ++t) {
        y(t, i) = std::sin(static_cast<float>(t) * rate);
        y(t, half + i) = std::cos(static_cast<float>(t) * rate);
      }
    }
  }

  // As the original has them: [chunk][channel][band][row].
  void show(const view<float, dynamic, flat>& made, extent each, context& c) const {
    const extent channels = convolutions.template get<"conv2d3">().channels_out(), wide = made.cols() / channels,
                 chunks = made.rows() / each;
    core::workspace::frame scratch(c.scratch);
    auto shown = scratch.matrix(chunks, channels * wide * each);
    for (extent i = 0; i < chunks; ++i)
      for (extent t = 0; t < each; ++t)
        for (extent b = 0; b < wide; ++b)
          for (extent n = 0; n < channels; ++n)
            shown(i, (n * wide + b) * each + t) = made(i * each + t, b * channels + n);
    c.trace("conv3", shown);
  }
};

/// The audio tower: features [frames, Mels] -> rows of the language model [rows(frames), Out]. Window is half the
/// frames of a chunk, Infer the frames of a block. A call takes a qwen3_audio_env.
template <extent Mels, extent D, extent Heads, extent Ffn, extent Channels, extent Out, extent N, extent Window = 50,
          extent Infer = 800>
struct qwen3_audio_encoder {
  static constexpr extent input = Mels, output = Out;

  core::setting<Infer> n_window_infer;               ///< frames of a block
  qwen3_audio_stem<Mels, D, Channels, Window> stem;  ///< what comes before the layers, chunk by chunk
  /// What follows the convolutions, rows in, rows out.
  sequence<at<"layers", repeat<N, qwen3_audio_layer<D, Heads, Ffn>>>, at<"ln_post", layer_norm<D>>,
           at<"proj1", linear<D, D, bias::added, gelu>>, at<"proj2", linear<D, Out>>>
      behind;

  STENO_ON_CALL void members(auto&& v) {
    v("n_window_infer", n_window_infer);
    v("", stem);
    v("", behind);
    v.equal("output of conv_out and width of the layers", stem.output_size(), behind.input_size());
    v.require(n_window_infer.get() >= stem.chunk(), "n_window_infer", "twice n_window or more", n_window_infer.get());
  }
  extent input_size() const noexcept { return stem.input_size(); }
  extent output_size() const noexcept { return behind.output_size(); }
  no_state start() const noexcept { return {}; }

  /// Rows of a chunk of frames: 13.
  extent chunk_rows() const noexcept { return stem.chunk_rows(); }
  /// Rows that see each other: 104, of 800 frames.
  extent block_rows() const noexcept { return stem.chunk_rows() * (n_window_infer.get() / stem.chunk()); }
  /// Frames of those rows: 800, in whole chunks.
  extent block_frames() const noexcept { return n_window_infer.get() / stem.chunk() * stem.chunk(); }
  /// Rows that `frames` give.
  extent rows(extent frames) const { return stem.rows(frames); }

  /// x [frames, Mels] -> y [rows(frames), Out]. Two blocks at a time, which bounds scratch memory and is no order of
  /// layers; all of them when somebody traces, so that stages are whole.
  template <class Env>
  void operator()(view<const float, dynamic, Mels> x, view<float, dynamic, Out> y, no_state*, const Env& env,
                  context& c) const {
    qwen3_audio_env own;
    if constexpr (requires { env.alone; }) own.alone = env.alone;
    own.alone = own.alone && x.rows() < stem.chunk();  // a single short chunk
    const extent piece = c.tracing() ? std::max<extent>(x.rows(), 1) : 2 * block_frames();
    extent done = 0;
    for (extent t = 0; t < x.rows(); t += piece) {
      const extent frames = std::min(piece, x.rows() - t), n = rows(frames);
      core::workspace::frame scratch(c.scratch);
      auto h = scratch.template matrix<dynamic, D>(n, stem.output_size());
      stem(x.middleRows(t, frames), h, nullptr, own, c);
      c.trace("encoder_in", h);
      const auto into = core::as<float, dynamic, Out>(y.middleRows(done, n));
      behind(core::as<const float, dynamic, D>(h), into, nullptr, window_env{{.chunk = block_rows(), .left = 0}}, c);
      c.trace("out", into);
      done += n;
    }
  }

 private:
  struct window_env {
    attention_window window;
  };
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
