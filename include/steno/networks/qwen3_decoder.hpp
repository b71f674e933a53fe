// steno/networks/qwen3_decoder.hpp - Qwen3, a causal language model: rows of any origin in, rows and scores out.
//
//   layers: x += self_attn(input_layernorm(x));  x += mlp(post_attention_layernorm(x))
//   self_attn: q, k, v = products of x; each head of q and k RMS-normed, then turned by its position (rotary);
//              heads / key_value_heads heads of q read one head of k and v; o_proj
//   logits = norm(x) lm_head^T, where a file without lm_head has embed_tokens in its place
//
// `Qwen3DecoderLayer`, `Qwen3Attention` (transformers), as used by `Qwen3ASRThinkerForConditionalGeneration`. A prompt
// goes through in one pass, rows of audio beside rows of embed_tokens; a step is the same call with one row. Keys and
// values stay in a state that can be rewound. Tested in tests/networks/qwen3_decoder_test.cpp, on golden stages in
// tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/gated_feed_forward.hpp>
#include <steno/layers/grouped_attention.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/stack.hpp>
#include <steno/search/scores.hpp>
#include <steno/weights/blocks.hpp>

#include <span>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `Qwen3DecoderLayer`, norm first: x [rows, D] -> y [rows, D].
template <extent D, extent Heads, extent KeyHeads, extent Width, extent Ffn>
struct qwen3_layer
    : sequence<
          residual<at<"input_layernorm", rms_norm<D>>, at<"self_attn", grouped_attention<D, Heads, KeyHeads, Width>>>,
          residual<at<"post_attention_layernorm", rms_norm<D>>, at<"mlp", gated_feed_forward<D, Ffn>>>> {};

/// Keys and values of everything the decoder has read: of one text, or of several (`sequences`), which can be rewound;
/// sequences.format is how they are kept. The same type for every size.
using qwen3_decoder_state =
    decoder_state<state_of<repeat<dynamic, qwen3_layer<dynamic, dynamic, dynamic, dynamic, dynamic>>>>;

/// Sizes of the language model by name; what is left out is adopted from the file.
struct qwen3_text_sizes {
  extent width = dynamic;       ///< of the layers, and of what the audio tower gives
  extent heads = dynamic;       ///< of the queries
  extent key_heads = dynamic;   ///< of keys and values
  extent head_width = dynamic;  ///< columns of a head
  extent units = dynamic;       ///< inner width of the feed-forward parts
  extent layers = dynamic;      ///< of self-attention and feed-forward parts
  extent vocabulary = dynamic;  ///< rows of embed_tokens
  extent outputs = dynamic;     ///< rows of lm_head: the vocabulary, or a classifier's classes
  extent rope_theta = dynamic;  ///< base of the rotary angles
};

/// The language model. Calls are const: threads may share it, each with a state of its own.
template <qwen3_text_sizes S>
struct qwen3_decoder {
 private:
  static constexpr extent D = S.width, Vocab = S.vocabulary, Outputs = S.outputs;

 public:
  static constexpr extent input = D, output = Outputs;

  weights::weight<Vocab, D, dtype::any, weights::use::rows> embed_tokens;  ///< a row for each token
  /// None where a file holds the embedding alone.
  repeat<S.layers, qwen3_layer<D, S.heads, S.key_heads, S.head_width, S.units>> layers;
  rms_norm<D> norm;                                       ///< of the rows that logits are made of
  weights::weight<Outputs, D> lm_head;                    ///< embed_tokens in a file without one
  core::setting<S.rope_theta, 1, 1000000000> rope_theta;  ///< base of the rotary positions

  void members(auto&& v) {
    v("rope_theta", rope_theta);
    v("model.embed_tokens.weight", embed_tokens);
    v("model.layers", layers);
    if (layers.empty())  // a file that holds no more than the embedding
      v.optional("model.norm", norm);
    else
      v("model.norm", norm);
    v.optional("lm_head.weight", lm_head);
    if constexpr (core::compatible(Outputs, Vocab))
      if (!lm_head) v("model.embed_tokens.weight", lm_head);
    if constexpr (!core::compatible(Outputs, Vocab)) v("lm_head.weight", lm_head);
    v.equal("widths of embed_tokens and lm_head", lm_head.cols(), embed_tokens.cols());
    if (layers.empty()) return;
    v.equal("widths of the layers and embed_tokens", layers.output_size(), embed_tokens.cols());
    v.equal("widths of the layers and norm", layers.output_size(), norm.input_size());
    layers.each([&](const auto& l, extent) {
      v.equal("widths of heads", l.template get<"self_attn">().head_width(), head_width());
    });
  }
  /// Columns of a row of the layers.
  extent width() const noexcept { return embed_tokens.cols(); }
  /// Tokens that embed() knows.
  extent vocabulary() const noexcept { return embed_tokens.rows(); }
  /// Scores of a row: the vocabulary, or the classes of a model whose lm_head is its own.
  extent outputs() const noexcept { return lm_head.rows(); }
  /// Of the attention of every layer; there must be layers.
  extent head_width() const noexcept { return layers.front().template get<"self_attn">().head_width(); }
  /// How keys and values are usually kept.
  dtype cache_format() const noexcept {
    if (layers.empty()) return dtype::f32;
    return kernels::cache_format_beside(layers.front().template get<"self_attn">().products.weight_format());
  }

  /// Rows of embed_tokens: y [ids.size(), D].
  void embed(std::span<const int> ids, view<float, dynamic, D> y) const {
    const weights::weight_ref w = embed_tokens.ref();
    for (std::size_t i = 0; i < ids.size(); ++i)
      weights::dequantise(w.format, w.row(ids[i]), y.data() + static_cast<extent>(i) * y.outerStride(),
                          static_cast<std::size_t>(w.cols));
  }

  /// Rows x [n, D] through all layers, in place; norm and logits come after. They continue a text that `s` holds.
  void operator()(view<float, dynamic, D> x, qwen3_decoder_state& s, context& c, extent text = 0) const {
    if (layers.empty() || x.rows() == 0) return;
    s.sequences.extend(x.rows(), text);
    run(x, s, c);
    if (c.tracing()) {
      core::workspace::frame scratch(c.scratch);
      auto normed = scratch.template matrix<dynamic, D>(x.rows(), width());
      norm(core::as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
      c.trace("norm", normed);
    }
  }
  /// Row i of x [n, D] continues text texts[i], all different: a step of several texts whose products are one.
  void step(view<float, dynamic, D> x, std::span<const int> texts, qwen3_decoder_state& s, context& c) const {
    if (layers.empty() || x.rows() == 0) return;
    s.sequences.extend_each(texts);
    run(x, s, c);
  }

  /// Scores of what follows rows x [n, D] (normed here): y [n, outputs()].
  void logits(view<const float, dynamic, D> x, view<float, dynamic, Outputs> y, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(x.rows(), width());
    norm(x, normed, nullptr, no_env{}, c);
    kernels::matmul(core::read(normed), lm_head.ref(), {}, core::write(y), c);
    search::require_finite(core::read(y), c.run);
    c.trace("logits", y);
  }

 private:
  void run(view<float, dynamic, D> x, qwen3_decoder_state& s, context& c) const {
    core::workspace::frame scratch(c.scratch);
    const rotary_angles angles(s.sequences, head_width(), static_cast<double>(rope_theta.get()), scratch, c.run);
    auto scope = c.enter("layers");
    layers(core::as<const float, dynamic, D>(x), x, &s.of(layers), rotary_env{s.sequences, angles}, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
