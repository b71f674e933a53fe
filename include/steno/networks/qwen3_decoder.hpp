// steno/networks/qwen3_decoder.hpp - Qwen3, a causal language model: rows of any origin in, rows and scores out.
//
//   layers: x += self_attn(input_layernorm(x));  x += mlp(post_attention_layernorm(x))
//   self_attn: q, k, v = products of x; each head of q and k RMS-normed, then turned by its position (rotary);
//              heads / key_value_heads heads of q read one head of k and v; o_proj
//   logits = norm(x) lm_head^T, where a file without lm_head has embed_tokens in its place
//
// `Qwen3DecoderLayer`, `Qwen3Attention` (transformers), as used by `Qwen3ASRThinkerForConditionalGeneration`. A prompt
// goes through in one pass, rows of audio beside rows of embed_tokens; a step is the same call with one row. Keys and
// values stay in a past that can be rewound. Tested in tests/networks/qwen3_decoder_test.cpp, on golden stages in
// tests/parity/qwen3_asr_test.cpp.
#pragma once
#include <steno/decoders/scores.hpp>
#include <steno/kernels/attention.hpp>
#include <steno/kernels/cached_attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/gated_feed_forward.hpp>
#include <steno/layers/head_cache.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/rotary.hpp>
#include <steno/layers/stack.hpp>
#include <steno/weights/blocks.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace steno::inline STENO_ABI {

/// Keys and values of everything the decoder has read, for each layer. Copyable; memory is kept when it is rewound.
struct qwen3_past {
  std::vector<head_cache> layers;
  /// How rows are kept: f32, f16 or q8_0; may change while there are none. decoder.cache_format() is what suits the
  /// weights.
  dtype format = dtype::f32;

  /// Position of the next row.
  extent length() const noexcept { return layers.empty() ? 0 : layers.front().rows(); }
  /// Forgets all but the first `count` rows.
  void rewind(extent count) noexcept {
    for (head_cache& l : layers) l.rewind(count);
  }
  /// Bytes that are held.
  std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const head_cache& l : layers) sum += l.bytes();
    return sum;
  }
  /// Room for `count` more rows.
  void extend(extent count, std::size_t depth, extent heads, extent width) {
    layers.resize(depth);
    for (head_cache& l : layers) {
      if (l.format() != format && l.rows() == 0) l = head_cache(format);
      l.extend(count, heads, width);
    }
  }
};

template <extent D, extent Heads, extent KeyHeads, extent Width>
struct qwen3_attention {
  static constexpr extent input = D, output = D;
  static constexpr extent queries = times(Heads, Width), keys = times(KeyHeads, Width);

  linear<D, queries, bias::none> q_proj;
  linear<D, keys, bias::none> k_proj, v_proj;
  linear<queries, D, bias::none> o_proj;
  rms_norm<Width> q_norm, k_norm;

  void members(auto&& v) {
    v("q_proj", q_proj);
    v("k_proj", k_proj);
    v("v_proj", v_proj);
    v("o_proj", o_proj);
    v("q_norm", q_norm);
    v("k_norm", k_norm);
    const extent wide = width() > 0 ? width() : 1;
    v.equal("widths of q_norm and k_norm", width(), k_norm.input_size());
    v.equal("width of a head and an even number", width(), width() / 2 * 2);
    v.equal("output of q_proj and whole heads", q_proj.output_size(), q_proj.output_size() / wide * wide);
    v.equal("output of k_proj and whole heads", k_proj.output_size(), k_proj.output_size() / wide * wide);
    v.equal("outputs of k_proj and v_proj", k_proj.output_size(), v_proj.output_size());
    v.equal("output of q_proj and input of o_proj", q_proj.output_size(), o_proj.input_size());
    for (const extent n : {q_proj.input_size(), k_proj.input_size(), v_proj.input_size()})
      v.equal("widths of the attention's products", n, o_proj.output_size());
    const extent shared = key_heads() > 0 ? heads() / key_heads() * key_heads() : 0;
    v.equal("heads of q and whole groups of heads of k", heads(), shared);
  }
  extent input_size() const noexcept { return q_proj.input_size(); }
  extent output_size() const noexcept { return o_proj.output_size(); }
  extent width() const noexcept { return q_norm.input_size(); }
  extent heads() const noexcept { return width() > 0 ? q_proj.output_size() / width() : 0; }
  extent key_heads() const noexcept { return width() > 0 ? k_proj.output_size() / width() : 0; }

  /// y = residual + attention of the rows x [n, D]; their keys and values take the last n rows of `past`, which have
  /// been made. y may be `residual`.
  void operator()(view<const float, dynamic, D> x, const view<const float>& residual, head_cache& past,
                  const rotary_angles& angles, view<float, dynamic, D> y, context& c) const {
    const extent first = past.rows() - x.rows();
    project_and_hear(
        x, residual, angles, y, c,
        [&](extent t, extent h, const float* k, const float* v) { past.write(h, first + t, k, v); },
        [&](const view<const float>& q, const view<float>& heard) { hear(q, past, first, heard, c); });
  }
  /// The same for rows of different sequences: row i goes behind past_of(i).
  template <class Past>
  void step(view<const float, dynamic, D> x, const view<const float>& residual, Past&& past_of,
            const rotary_angles& angles, view<float, dynamic, D> y, context& c) const {
    project_and_hear(
        x, residual, angles, y, c,
        [&](extent t, extent h, const float* k, const float* v) {
          head_cache& past = past_of(t);
          past.write(h, past.rows() - 1, k, v);
        },
        [&](const view<const float>& q, const view<float>& heard) {
          for (extent t = 0; t < q.rows(); ++t) {
            const head_cache& past = past_of(t);
            hear(q.middleRows(t, 1), past, past.rows() - 1, write(view<float>(heard).middleRows(t, 1)), c);
          }
        });
  }

 private:
  // Queries behind the first `first` rows of `past` see it.
  void hear(const view<const float>& q, const head_cache& past, extent first, const view<float>& heard,
            context& c) const {
    const float scale = 1.0f / std::sqrt(static_cast<float>(width()));
    if (past.format() == dtype::f32)
      kernels::attention(q, past.keys(), past.values(), heads(),
                         {.scale = scale,
                          .rounds = q_proj.quantised(),
                          .key_heads = key_heads(),
                          .causal = true,
                          .causal_offset = first,
                          .key_head_stride = past.head_stride(),
                          .value_head_stride = past.head_stride()},
                         heard, c);
    else
      kernels::attention(q, past.stored(), heads(), scale, first, heard, c);
  }
  // keep(row, head, key, value), then see(queries, what they hear).
  template <class Keep, class See>
  void project_and_hear(view<const float, dynamic, D> x, const view<const float>& residual, const rotary_angles& angles,
                        view<float, dynamic, D> y, context& c, Keep keep, See see) const {
    const extent n = x.rows(), w = width();
    workspace::frame scratch(c.scratch);
    auto q = scratch.template matrix<dynamic, queries>(n, q_proj.output_size());
    {
      workspace::frame inner(c.scratch);
      auto k = inner.template matrix<dynamic, keys>(n, k_proj.output_size());
      auto v = inner.template matrix<dynamic, keys>(n, k_proj.output_size());
      {
        workspace::frame prepared(c.scratch);
        const kernels::operand o = kernels::prepare(read(x), q_proj.w.format, prepared, c.run);
        q_proj.multiply(o, q, c);
        k_proj.multiply(o, k, c);
        v_proj.multiply(o, v, c);
      }
      auto q_heads = make_view<dynamic, Width>(q.data(), n * heads(), w);
      auto k_heads = make_view<dynamic, Width>(k.data(), n * key_heads(), w);
      q_norm(as<const float, dynamic, Width>(q_heads), q_heads, nullptr, no_env{}, c);
      k_norm(as<const float, dynamic, Width>(k_heads), k_heads, nullptr, no_env{}, c);
      for (extent t = 0; t < n; ++t) {
        for (extent h = 0; h < heads(); ++h) {
          float* const head = q.data() + (t * heads() + h) * w;
          angles.turn(head, t, head);
        }
        for (extent h = 0; h < key_heads(); ++h) {
          const extent at = (t * key_heads() + h) * w;
          angles.turn(k.data() + at, t, k.data() + at);
          keep(t, h, k.data() + at, v.data() + at);
        }
      }
    }
    auto heard = scratch.template matrix<dynamic, queries>(n, q_proj.output_size());
    see(read(q), write(heard));
    kernels::matmul(read(heard), o_proj.w.ref(),
                    {.residual = residual.data(), .residual_stride = residual.outerStride()}, write(y), c);
  }
};

template <extent D, extent Heads, extent KeyHeads, extent Width, extent Ffn>
struct qwen3_layer {
  static constexpr extent input = D, output = D;

  rms_norm<D> input_layernorm, post_attention_layernorm;
  qwen3_attention<D, Heads, KeyHeads, Width> self_attn;
  gated_feed_forward<D, Ffn> mlp;

  void members(auto&& v) {
    v("input_layernorm", input_layernorm);
    v("self_attn", self_attn);
    v("post_attention_layernorm", post_attention_layernorm);
    v("mlp", mlp);
    for (const extent n : {input_layernorm.input_size(), self_attn.input_size(), mlp.input_size()})
      v.equal("widths of a layer's parts", n, post_attention_layernorm.input_size());
  }
  extent input_size() const noexcept { return input_layernorm.input_size(); }
  extent output_size() const noexcept { return post_attention_layernorm.output_size(); }

  void operator()(view<float, dynamic, D> x, head_cache& past, const rotary_angles& angles, context& c) const {
    around(x, c, [&](view<const float, dynamic, D> normed) { self_attn(normed, read(x), past, angles, x, c); });
  }
  /// Rows of different sequences: past_of(i) of row i.
  template <class Past>
  void step(view<float, dynamic, D> x, Past&& past_of, const rotary_angles& angles, context& c) const {
    around(x, c, [&](view<const float, dynamic, D> normed) { self_attn.step(normed, read(x), past_of, angles, x, c); });
  }

 private:
  template <class Attend>
  void around(view<float, dynamic, D> x, context& c, Attend attend) const {
    workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(x.rows(), output_size());
    const auto same = as<const float, dynamic, D>(normed);
    input_layernorm(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    attend(same);
    post_attention_layernorm(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    mlp(same, x, nullptr, no_env{}, c, addend{x.data(), x.outerStride()});
  }
};

template <extent D, extent Heads, extent KeyHeads, extent Width, extent Ffn, extent Vocab, extent N,
          extent Theta = 1000000, extent Outputs = Vocab>
struct qwen3_decoder {
  static constexpr extent input = D, output = Outputs;

  weight<Vocab, D, dtype::any, use::rows> embed_tokens;
  numbered<N, qwen3_layer<D, Heads, KeyHeads, Width, Ffn>> layers;
  rms_norm<D> norm;
  weight<Outputs, D> lm_head;
  setting<Theta, 1, 1000000000> rope_theta;

  void members(auto&& v) {
    v("rope_theta", rope_theta);
    v("model.embed_tokens.weight", embed_tokens);
    v("model.layers", layers);
    if (layers.empty())  // a file that holds no more than the embedding
      v.optional("model.norm", norm);
    else
      v("model.norm", norm);
    v.optional("lm_head.weight", lm_head);
    if constexpr (compatible(Outputs, Vocab))
      if (!lm_head) v("model.embed_tokens.weight", lm_head);
    if constexpr (!compatible(Outputs, Vocab)) v("lm_head.weight", lm_head);
    v.equal("widths of embed_tokens and lm_head", lm_head.cols(), embed_tokens.cols());
    if (!layers.empty()) {
      v.equal("widths of the layers and embed_tokens", layers.output_size(), embed_tokens.cols());
      v.equal("widths of the layers and norm", layers.output_size(), norm.input_size());
      const auto& first = layers.layers.front().self_attn;
      for (const auto& l : layers.layers) {
        v.equal("widths of heads", l.self_attn.width(), first.width());
        v.equal("heads of keys", l.self_attn.key_heads(), first.key_heads());
      }
    }
  }
  extent width() const noexcept { return embed_tokens.cols(); }
  extent vocabulary() const noexcept { return embed_tokens.rows(); }
  /// Scores of a row: the vocabulary, or the classes of a model whose lm_head is its own.
  extent outputs() const noexcept { return lm_head.rows(); }
  /// How keys and values are usually kept: as floats, which changes nothing, beside weights that are floats of any
  /// width; beside block formats, whose own error is a hundred times larger, as halves.
  dtype cache_format() const noexcept {
    if (layers.empty()) return dtype::f32;
    const dtype f = layers.layers.front().self_attn.q_proj.w.format;
    return info(f).elements > 1 ? dtype::f16 : dtype::f32;
  }

  /// Rows of embed_tokens: y [ids.size(), D].
  void embed(std::span<const int> ids, view<float, dynamic, D> y) const {
    const weight_ref w = embed_tokens.ref();
    for (std::size_t i = 0; i < ids.size(); ++i)
      dequantise(w.format, w.row(ids[i]), y.data() + static_cast<extent>(i) * y.outerStride(),
                 static_cast<std::size_t>(w.cols));
  }

  /// Rows x [n, D] that continue what `past` has read, through all layers, in place; norm and logits come after.
  void operator()(view<float, dynamic, D> x, qwen3_past& past, context& c) const {
    if (layers.empty() || x.rows() == 0) return;
    const auto& a = layers.layers.front().self_attn;
    const extent first = past.length();
    past.extend(x.rows(), layers.layers.size(), a.key_heads(), a.width());
    workspace::frame scratch(c.scratch);
    const rotary_angles angles(first, x.rows(), a.width(), static_cast<double>(rope_theta.get()), scratch, c.run);
    for (std::size_t i = 0; i < layers.layers.size(); ++i) {
      layers.layers[i](x, past.layers[i], angles, c);
      auto numbered = c.enter("layers", static_cast<extent>(i));
      c.trace("out", x);
    }
    if (c.tracing()) {
      auto normed = scratch.template matrix<dynamic, D>(x.rows(), width());
      norm(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
      c.trace("norm", normed);
    }
  }

  /// Row i of x [n, D] continues what *pasts[i] has read, all different: a step of several texts whose products are
  /// one.
  void step(view<float, dynamic, D> x, std::span<qwen3_past* const> pasts, context& c) const {
    if (layers.empty() || x.rows() == 0) return;
    const auto& a = layers.layers.front().self_attn;
    for (qwen3_past* p : pasts) p->extend(1, layers.layers.size(), a.key_heads(), a.width());
    workspace::frame scratch(c.scratch);
    const auto past_of = [&](extent t) -> qwen3_past& { return *pasts[static_cast<std::size_t>(t)]; };
    const rotary_angles angles(x.rows(), a.width(), static_cast<double>(rope_theta.get()), scratch, c.run,
                               [&](extent t) { return past_of(t).length() - 1; });
    for (std::size_t i = 0; i < layers.layers.size(); ++i)
      layers.layers[i].step(
          x, [&](extent t) -> head_cache& { return past_of(t).layers[i]; }, angles, c);
  }

  /// Scores of what follows rows x [n, D] (normed here): y [n, outputs()].
  void logits(view<const float, dynamic, D> x, view<float, dynamic, Outputs> y, context& c) const {
    workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(x.rows(), width());
    norm(x, normed, nullptr, no_env{}, c);
    kernels::matmul(read(normed), lm_head.ref(), {}, write(y), c);
    require_finite(read(y));
    c.trace("logits", y);
  }
};

}  // namespace steno::inline STENO_ABI
