// steno/networks/sanm_decoder.hpp - Paraformer's decoder: all tokens at once, from their acoustic vectors.
//
//   layer:  t = feed_forward(norm1(x));  x = x + fsmn(norm2(t)) + norm2(t);  x = x + src_attn(norm3(x), encoded)
//   decoders3:  x = feed_forward(norm1(x)), without a residual
//   y = output_layer(after_norm(x))
//
// FunASR `ParaformerSANMDecoder`, `DecoderLayerSANM` (funasr/models/paraformer/decoder.py), with
// `PositionwiseFeedForwardDecoderSANM` (a norm inside, no bias on w_2), `MultiHeadedAttentionSANMDecoder` (the FSMN
// alone) and `MultiHeadedAttentionCrossAtt`. In a stream (`forward_chunk`) the FSMN is one-sided and goes on from the
// tokens before, and the attention also sees the last encoder frames of the pieces before. Tested in
// tests/parity/paraformer_test.cpp and paraformer_online_test.cpp (golden stages).
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/key_value_cache.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/repeat.hpp>

#include <cmath>
#include <vector>

namespace steno::inline STENO_ABI {

/// y = w_2(norm(relu(w_1(x)))).
template <extent D, extent Ffn, int Exponent>
struct normed_feed_forward {
  static constexpr extent input = D, output = D;

  linear<D, Ffn> w_1;
  layer_norm<Ffn, Exponent> norm;
  linear<Ffn, D, bias::none> w_2;

  void members(auto&& v) {
    v("w_1", w_1);
    v("norm", norm);
    v("w_2", w_2);
    v.equal("output of w_1 and length of norm", w_1.output_size(), norm.input_size());
    v.equal("output of w_1 and input of w_2", w_1.output_size(), w_2.input_size());
    v.equal("input of w_1 and output of w_2", w_1.input_size(), w_2.output_size());
  }
  extent input_size() const noexcept { return w_1.input_size(); }
  extent output_size() const noexcept { return w_1.input_size(); }

  /// x [rows, D] -> y [rows, D]; y may be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    workspace::frame scratch(c.scratch);
    auto inner = scratch.template matrix<dynamic, Ffn>(x.rows(), w_1.output_size());
    w_1(x, inner, c, kernels::activation::relu);
    norm(inner, inner, c);
    c.trace("norm", inner);
    w_2(inner, y, c);
  }
};

/// Attention of tokens over the encoder's frames; linear_k_v gives keys, then values.
template <extent D, extent Heads>
struct source_attention {
  setting<Heads> heads;
  linear<D, D> linear_q;
  linear<D, times(2, D)> linear_k_v;
  linear<D, D> linear_out;

  void members(auto&& v) {
    v("attention_heads", heads);
    v("linear_q", linear_q);
    v("linear_k_v", linear_k_v);
    v("linear_out", linear_out);
    const extent d = linear_q.output_size();
    v.equal("output of linear_k_v and twice linear_q", linear_k_v.output_size(), 2 * d);
    for (const extent n :
         {linear_q.input_size(), linear_k_v.input_size(), linear_out.input_size(), linear_out.output_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width of linear_q and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }

  /// x [tokens, D], the encoder's frames prepared for linear_k_v -> y [tokens, D]; y may be x. With `past`, its frames
  /// are seen before these, and the last `kept` of all stay in it.
  void operator()(view<const float, dynamic, D> x, const kernels::operand& encoded, view<float, dynamic, D> y,
                  context& c, key_value_cache* past = nullptr, extent kept = 0) const {
    const extent d = linear_q.output_size();
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, D>(x.rows(), d);
    float* const fresh = past != nullptr ? past->extend(encoded.rows, 2 * d)
                                         : scratch.template take<float>(static_cast<std::size_t>(encoded.rows * 2 * d));
    auto kv = make_view<dynamic, times(2, D)>(fresh, encoded.rows, 2 * d);
    auto heard = scratch.template matrix<dynamic, D>(x.rows(), d);
    linear_q(x, q, c);
    c.trace("cross_q", q);
    linear_k_v(encoded, kv, c);
    c.trace("cross_kv", kv);
    const float scale = 1.0f / std::sqrt(static_cast<float>(d / heads.get()));
    const float* const at = past != nullptr ? past->data() : fresh;
    const extent frames = past != nullptr ? past->rows() : encoded.rows;
    kernels::attention(read(q), make_view(at, frames, d, 2 * d), make_view(at + d, frames, d, 2 * d), heads.get(),
                       {.scale = scale, .rounds = linear_q.quantised()}, write(heard), c);
    if (past != nullptr) past->keep(kept);
    linear_out(as<const float, dynamic, D>(heard), y, c);
    c.trace("src_attn", y);
  }
};

/// The memory alone, as a member of its own name in the checkpoint.
template <extent D, extent Taps>
struct fsmn_attention {
  fsmn<Taps, D> fsmn_block;
  void members(auto&& v) { v("fsmn_block", fsmn_block); }

  /// x [tokens, D] -> y [tokens, D]. With `past` [Taps - 1, D], the rows before: one-sided, and `past` moves on.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, std::vector<float>* past,
                  context& c) const {
    if (past == nullptr) return fsmn_block(x, y, c);
    const extent d = x.cols(), before = fsmn_block.taps.rows() - 1;
    workspace::frame scratch(c.scratch);
    auto joined = scratch.template matrix<dynamic, D>(before + x.rows(), d);
    joined.topRows(before) = make_view<dynamic, D>(static_cast<const float*>(past->data()), before, d);
    joined.bottomRows(x.rows()) = x;
    fsmn_block.one_sided(as<const float, dynamic, D>(joined), y, c);
    make_view<dynamic, D>(past->data(), before, d) = joined.bottomRows(before);
  }
};

/// What a stream keeps of one layer. Copyable.
struct sanm_decoder_memory {
  std::vector<float> tokens;  ///< [Taps - 1, D]: inputs of the FSMN
  key_value_cache frames;     ///< keys and values of the encoder's frames
};

template <extent D, extent Heads, extent Ffn, extent Taps, int Exponent = 12>
struct sanm_decoder_layer {
  layer_norm<D, Exponent> norm1, norm2, norm3;
  normed_feed_forward<D, Ffn, Exponent> feed_forward;
  fsmn_attention<D, Taps> self_attn;
  source_attention<D, Heads> src_attn;

  static constexpr extent input = D, output = D;
  void members(auto&& v) {
    v("norm1", norm1);
    v("feed_forward", feed_forward);
    v("norm2", norm2);
    v("self_attn", self_attn);
    v("norm3", norm3);
    v("src_attn", src_attn);
    for (const extent n : {feed_forward.input_size(), norm2.input_size(), self_attn.fsmn_block.input_size(),
                           norm3.input_size(), src_attn.linear_q.input_size()})
      v.equal("widths of a layer's parts", n, norm1.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent output_size() const noexcept { return norm1.input_size(); }

  sanm_decoder_memory start() const {
    const auto& taps = self_attn.fsmn_block.taps;
    return {.tokens = std::vector<float>(static_cast<std::size_t>((taps.rows() - 1) * taps.cols())), .frames = {}};
  }

  /// x [tokens, D], changed in place. In a stream with `past`, of which `kept` frames stay (0: no frame is kept).
  void operator()(view<float, dynamic, D> x, const kernels::operand& encoded, context& c,
                  sanm_decoder_memory* past = nullptr, extent kept = 0) const {
    workspace::frame scratch(c.scratch);
    auto t = scratch.template matrix<dynamic, D>(x.rows(), x.cols());
    auto memory = scratch.template matrix<dynamic, D>(x.rows(), x.cols());
    const auto same = as<const float, dynamic, D>(t);
    norm1(as<const float, dynamic, D>(x), t, c);
    c.trace("norm1", t);
    {
      auto s = c.enter("feed_forward");
      feed_forward(same, t, c);
    }
    c.trace("ffn", t);
    norm2(same, t, c);
    c.trace("norm2", t);
    self_attn(same, memory, past != nullptr ? &past->tokens : nullptr, c);
    kernels::add(read(memory), read(t), write(memory));
    c.trace("fsmn_self_attn", memory);
    kernels::add(read(x), read(memory), write(x));
    norm3(as<const float, dynamic, D>(x), t, c);
    c.trace("norm3", t);
    src_attn(same, encoded, t, c, past != nullptr && kept > 0 ? &past->frames : nullptr, kept);
    kernels::add(read(x), read(t), write(x));
    c.trace("out", x);
  }
};

template <extent D, extent Ffn, int Exponent = 12>
struct sanm_decoder_end {
  static constexpr extent input = D, output = D;
  layer_norm<D, Exponent> norm1;
  normed_feed_forward<D, Ffn, Exponent> feed_forward;

  void members(auto&& v) {
    v("norm1", norm1);
    v("feed_forward", feed_forward);
    v.equal("widths of norm1 and feed_forward", norm1.input_size(), feed_forward.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent output_size() const noexcept { return norm1.input_size(); }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    norm1(x, y, c);
    feed_forward(as<const float, dynamic, D>(y), y, c);
  }
};

template <extent D, extent Heads, extent Ffn, extent Taps, extent Layers, extent Vocab>
struct sanm_decoder {
  repeat<Layers, sanm_decoder_layer<D, Heads, Ffn, Taps>> decoders;
  repeat<1, sanm_decoder_end<D, Ffn>> decoders3;
  layer_norm<D, 12> after_norm;
  linear<D, Vocab> output_layer;

  void members(auto&& v) {
    v("decoders", decoders);
    v("decoders3", decoders3);
    v("after_norm", after_norm);
    v("output_layer", output_layer);
    v.equal("widths of decoders and after_norm", decoders.output_size(), after_norm.input_size());
    v.equal("widths of decoders3 and after_norm", decoders3.output_size(), after_norm.input_size());
    v.equal("widths of after_norm and output_layer", after_norm.input_size(), output_layer.input_size());
  }
  extent width() const noexcept { return after_norm.input_size(); }

  /// What a stream keeps, one for each layer.
  std::vector<sanm_decoder_memory> start() const {
    std::vector<sanm_decoder_memory> all;
    for (const auto& l : decoders.layers) all.push_back(l.start());
    return all;
  }

  /// tokens [n, D] (changed), encoded [T, D] -> logits [n, Vocab]. In a stream with `past`, of whose frames `kept`
  /// stay.
  void operator()(view<float, dynamic, D> tokens, view<const float, dynamic, D> encoded, view<float, dynamic, Vocab> y,
                  context& c, std::vector<sanm_decoder_memory>* past = nullptr, extent kept = 0) const {
    workspace::frame scratch(c.scratch);
    if (!decoders.empty()) {
      // All layers read the encoder's frames, in formats of one family as a rule: prepared once.
      const kernels::operand o =
          kernels::prepare(read(encoded), decoders.layers[0].src_attn.linear_k_v.w.format, scratch, c.run);
      auto s = c.enter("decoders");
      for (std::size_t i = 0; i < decoders.layers.size(); ++i) {
        auto layer = c.enter("", static_cast<extent>(i));
        decoders.layers[i](tokens, o, c, past != nullptr ? &(*past)[i] : nullptr, kept);
      }
    }
    auto x = scratch.template matrix<dynamic, D>(tokens.rows(), width());
    decoders3.layers[0](as<const float, dynamic, D>(tokens), x, c);
    c.trace("decoders3", x);
    after_norm(as<const float, dynamic, D>(x), x, c);
    c.trace("after_norm", x);
    output_layer(as<const float, dynamic, D>(x), y, c);
  }
};

}  // namespace steno::inline STENO_ABI
