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
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/conv2d_halving.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace steno::inline STENO_ABI {

/// Each row sees the block that it is one of: the record's `window`.
template <extent D, extent Heads, extent Ffn>
struct qwen3_audio_layer
    : sequence<
          residual<at<"self_attn_layer_norm", layer_norm<D>>,
                   at<"self_attn", attention<D, Heads, attention_names<"q_proj", "k_proj", "v_proj", "out_proj">>>>,
          residual<at<"final_layer_norm", layer_norm<D>>, at<"fc1", linear<D, Ffn, bias::added, gelu>>,
                   at<"fc2", linear<Ffn, D>>>> {};
struct qwen3_audio_env {
  attention_window window;
};

template <extent Mels, extent D, extent Heads, extent Ffn, extent Channels, extent Out, extent N, extent Window = 50,
          extent Infer = 800>
struct qwen3_audio_encoder {
  static constexpr extent input = Mels, output = Out;
  static constexpr extent halved(extent n) { return is_static(n) ? (n + 1) / 2 : dynamic; }
  static constexpr extent bands = halved(halved(halved(Mels)));
  static constexpr extent flat = times(bands, Channels);

  setting<Mels, 1, 1024> num_mel_bins;
  setting<Window, 4> n_window;    ///< half the frames of a chunk
  setting<Infer> n_window_infer;  ///< frames of a block
  conv2d_halving<1, Channels> conv2d1;
  conv2d_halving<Channels, Channels> conv2d2, conv2d3;
  linear<flat, D, bias::none> conv_out;
  /// What follows the convolutions, rows in, rows out.
  sequence<at<"layers", repeat<N, qwen3_audio_layer<D, Heads, Ffn>>>, at<"ln_post", layer_norm<D>>,
           at<"proj1", linear<D, D, bias::added, gelu>>, at<"proj2", linear<D, Out>>>
      behind;

  void members(auto&& v) {
    v("num_mel_bins", num_mel_bins);
    v("n_window", n_window);
    v("n_window_infer", n_window_infer);
    v("conv2d1", conv2d1);
    v("conv2d2", conv2d2);
    v("conv2d3", conv2d3);
    v("conv_out", conv_out);
    v("", behind);
    v.equal("channels of conv2d1 and conv2d2", conv2d1.output_size(), conv2d2.input_size());
    v.equal("channels of conv2d2 and conv2d3", conv2d2.output_size(), conv2d3.input_size());
    v.equal("input of conv_out and bands times channels", conv_out.input_size(),
            thrice(num_mel_bins.get()) * conv2d3.output_size());
    v.equal("output of conv_out and width of the layers", conv_out.output_size(), behind.input_size());
    v.within("n_window_infer, and twice n_window", n_window_infer.get(), chunk(), n_window_infer.most);
  }
  extent input_size() const noexcept { return num_mel_bins.get(); }
  extent output_size() const noexcept { return behind.output_size(); }

  /// Frames of a chunk: 100; rows of one: 13.
  extent chunk() const noexcept { return 2 * n_window.get(); }
  extent chunk_rows() const noexcept { return thrice(chunk()); }
  /// Rows that see each other: 104, of 800 frames.
  extent block_rows() const noexcept { return chunk_rows() * (n_window_infer.get() / chunk()); }
  extent block_frames() const noexcept { return n_window_infer.get() / chunk() * chunk(); }
  /// Rows of so many frames.
  extent rows(extent frames) const noexcept { return frames / chunk() * chunk_rows() + thrice(frames % chunk()); }

  /// x [frames, Mels] -> y [rows(frames), Out]. `alone`: x is all there is, so a single short chunk stays short; frames
  /// of a longer recording come in whole blocks, and only the last piece may be shorter.
  void operator()(view<const float, dynamic, Mels> x, view<float, dynamic, Out> y, context& c,
                  bool alone = true) const {
    assert(y.rows() == rows(x.rows()));
    // Two blocks at a time; all of them when somebody looks, so that stages are whole.
    const extent some = c.tracing() ? std::max<extent>(x.rows(), 1) : 2 * block_frames();
    extent done = 0;
    for (extent t = 0; t < x.rows(); t += some) {
      const extent frames = std::min(some, x.rows() - t), n = rows(frames);
      blocks(x.middleRows(t, frames), y.middleRows(done, n), alone && x.rows() < chunk(), c);
      done += n;
    }
  }

 private:
  static constexpr extent thrice(extent n) noexcept {
    for (int i = 0; i < 3; ++i) n = (n + 1) / 2;
    return n;
  }

  void blocks(view<const float, dynamic, Mels> x, view<float, dynamic, Out> y, bool short_chunk, context& c) const {
    const extent n = y.rows(), d = conv_out.output_size();
    workspace::frame scratch(c.scratch);
    auto h = scratch.template matrix<dynamic, D>(n, d);
    embed(x, h, short_chunk, c);
    c.trace("encoder_in", h);
    behind(as<const float, dynamic, D>(h), y, nullptr, qwen3_audio_env{{.chunk = block_rows(), .left = 0}}, c);
    c.trace("out", y);
  }

  // The convolutions chunk by chunk, one product for all of their rows, positions.
  void embed(view<const float, dynamic, Mels> x, view<float, dynamic, D> h, bool short_chunk, context& c) const {
    const extent size = short_chunk ? x.rows() : chunk(), each = thrice(size);
    const extent chunks = (x.rows() + size - 1) / size;
    workspace::frame scratch(c.scratch);
    auto heard = scratch.template matrix<dynamic, flat>(chunks * each, conv_out.input_size());
    for (extent i = 0; i < chunks; ++i) {
      const extent first = i * size, frames = std::min(size, x.rows() - first);
      convolve(x.middleRows(first, frames), size, write(heard.middleRows(i * each, each)), c);
    }
    if (c.tracing()) show(heard, each, c);
    auto all = scratch.template matrix<dynamic, D>(chunks * each, h.cols());
    conv_out.multiply(heard, all, c);
    c.trace("conv_out", all);
    auto positions = scratch.template matrix<dynamic, D>(each, h.cols());
    sinusoids(positions);
    for (extent t = 0; t < h.rows(); t += each) {
      const extent n = std::min(each, h.rows() - t);
      kernels::add(read(all.middleRows(t, n)), read(positions.topRows(n)), write(h.middleRows(t, n)));
    }
  }

  // One chunk x, filled up with zeros to `size` frames: y [rows, bands * Channels].
  void convolve(const view<const float, dynamic, Mels>& x, extent size, view<float> y, context& c) const {
    const extent channels = conv2d1.output_size();
    workspace::frame scratch(c.scratch);
    view<const float> from = read(x);
    if (x.rows() < size) {
      auto padded = scratch.matrix(size, x.cols());
      padded.topRows(x.rows()) = x;
      padded.bottomRows(size - x.rows()).setZero();
      new (&from) view<const float>(read(padded));
    }
    const extent frames1 = (size + 1) / 2, bands1 = (x.cols() + 1) / 2;
    auto first = scratch.matrix(frames1, bands1 * channels);
    conv2d1(from, first, c, kernels::activation::gelu);
    auto second = scratch.matrix((frames1 + 1) / 2, (bands1 + 1) / 2 * channels);
    conv2d2(read(first), second, c, kernels::activation::gelu);
    conv2d3(read(second), y, c, kernels::activation::gelu);
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
  void show(const view<float, dynamic, flat>& heard, extent each, context& c) const {
    const extent channels = conv2d3.output_size(), wide = heard.cols() / channels, chunks = heard.rows() / each;
    workspace::frame scratch(c.scratch);
    auto shown = scratch.matrix(chunks, channels * wide * each);
    for (extent i = 0; i < chunks; ++i)
      for (extent t = 0; t < each; ++t)
        for (extent b = 0; b < wide; ++b)
          for (extent n = 0; n < channels; ++n)
            shown(i, (n * wide + b) * each + t) = heard(i * each + t, b * channels + n);
    c.trace("conv3", shown);
  }
};

}  // namespace steno::inline STENO_ABI
