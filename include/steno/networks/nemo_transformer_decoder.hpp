// steno/networks/nemo_transformer_decoder.hpp - NeMo's transformer decoder: prompts at once, then one row for each
// beam.
//
//   x = layer_norm(token_embedding[ids] + pos_enc[position ..])
//   layers: x += first_sub_layer(layer_norm_1(x)) causally;  x += second_sub_layer(layer_norm_2(x), encoded)
//           x += dense_out(relu(dense_in(layer_norm_3(x))))
//   y = final_layer_norm(x);  scores = log_softmax(y token_embedding^T + bias)
//
// `TransformerDecoderNM`, `TransformerDecoderBlock.forward_preln`, `TransformerEmbedding` and `TokenClassifier` of one
// layer, whose weight is the embedding (nemo/collections/asr/modules/transformer). The original keeps the inputs of
// every layer; keys and values are kept here. It divides queries and keys by the fourth root of a head's width each,
// and adds -10000 to what is masked: the same numbers. Tested in tests/parity/canary_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/layers/cross_attention.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/search/scores.hpp>
#include <steno/weights/blocks.hpp>

#include <cassert>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `TransformerDecoderBlock`, norm first: x [rows, D] -> y [rows, D]; the record is a decoder_layer_env.
template <extent D, extent Heads, extent Ffn>
struct nemo_decoder_block
    : sequence<residual<at<"layer_norm_1", layer_norm<D>>,
                        at<"first_sub_layer", attention<separate_products<D, Heads, nemo_names>>>>,
               residual<at<"layer_norm_2", layer_norm<D>>,
                        at<"second_sub_layer", cross_attention<separate_products<D, Heads, nemo_names>>>>,
               residual<at<"layer_norm_3", layer_norm<D>>,
                        at<"third_sub_layer", feed_forward<D, Ffn, relu, "dense_in", "dense_out">>>> {};

/// Sizes by name; what is left out is adopted from the file.
struct nemo_decoder_sizes {
  extent width = dynamic;       ///< of the layers, and of the encoder's rows
  extent heads = dynamic;       ///< of both attentions
  extent units = dynamic;       ///< inner width of the feed-forward parts
  extent layers = dynamic;      ///< of both attentions and feed-forward parts
  extent vocabulary = dynamic;  ///< columns of the scores: tokens, filled up to a multiple of eight
  extent context = dynamic;     ///< tokens of the longest text, its prompt among them
};

/// What follows the embedding: the layers and a norm. "_decoder.layers" of the checkpoint's names is left out, because
/// names in GGUF files have up to 63 bytes.
template <nemo_decoder_sizes S>
struct nemo_decoder_stack : sequence<shown<"layers", repeat<S.layers, nemo_decoder_block<S.width, S.heads, S.units>>>,
                                     at<"final_layer_norm", layer_norm<S.width>>> {};

/// What was written so far; one for each thread. The same type for every size.
using nemo_decoder_state = decoder_state<state_of<nemo_decoder_stack<nemo_decoder_sizes{}>>>;

/// The decoder. Calls are const: threads may share it, each with a state of its own.
template <nemo_decoder_sizes S>
struct nemo_decoder {
 private:
  static constexpr extent D = S.width, Vocab = S.vocabulary;

 public:
  static constexpr extent input = D, output = Vocab;

  weights::weight<Vocab, D> token_embedding;                              ///< read as rows and as a product
  weights::weight<S.context, D, dtype::f32, weights::use::rows> pos_enc;  ///< a row for each place in a text
  layer_norm<D> embedding_norm;                                           ///< of the sum of both
  nemo_decoder_stack<S> stack;                                            ///< layers and norm
  weights::vector_weight<Vocab> bias;                                     ///< of the scores

  void members(auto&& v) {
    v("transf_decoder._embedding.token_embedding.weight", token_embedding);
    v("transf_decoder._embedding.position_embedding.pos_enc", pos_enc);
    v("transf_decoder._embedding.layer_norm", embedding_norm);
    v("transf_decoder", stack);
    v("log_softmax.mlp.layer0.bias", bias);
    for (const extent n : {token_embedding.cols(), pos_enc.cols(), embedding_norm.input_size(), stack.input_size()})
      v.equal("widths of the decoder's parts", n, stack.output_size());
    v.equal("rows of the embedding and length of log_softmax.mlp.layer0.bias", token_embedding.rows(), bias.cols());
  }
  /// Columns of a row of the layers.
  extent width() const noexcept { return stack.output_size(); }
  /// Columns of the scores.
  extent vocabulary() const noexcept { return token_embedding.rows(); }
  /// The largest number of tokens of a text, its prompt among them.
  extent context_size() const noexcept { return pos_enc.rows(); }

  /// Keys and values of the encoder's rows [T, D] for every layer, packed.
  void keep_encoded(const view<const float>& encoded, std::vector<kv_cache>& kept, context& c) const {
    auto scope = c.enter("transf_decoder");
    steno::nn::keep_encoded<"second_sub_layer">(stack.template get<"layers">(), encoded, true, kept, c);
  }

  /// `ids` one after another, following what `s` holds (which must not have forked). y [ids, D] gets the rows after
  /// the last norm; score() makes scores of those that matter. No more than context_size() tokens in all.
  void prompt(std::span<const int> ids, std::span<const kv_cache> encoded, nemo_decoder_state& s,
              view<float, dynamic, D> y, context& c) const {
    assert(s.sequences.size() <= 1);
    s.sequences.extend(static_cast<extent>(ids.size()));
    run(ids, encoded, s, y, c);
  }
  /// The next token of every beam (fork() makes them). y [beams, D] as above.
  void step(std::span<const int> ids, std::span<const kv_cache> encoded, nemo_decoder_state& s,
            view<float, dynamic, D> y, context& c) const {
    assert(static_cast<extent>(ids.size()) == s.sequences.size());
    s.sequences.extend_each(s.sequences.size());
    run(ids, encoded, s, y, c);
  }

  /// Rows of prompt() or step() to log-probabilities of what follows: y [rows, Vocab]. Throws steno::error when one is
  /// no number.
  void score(view<const float, dynamic, D> x, view<float, dynamic, Vocab> y, context& c) const {
    kernels::epilogue e;
    e.bias = bias.floats();
    kernels::matmul(core::read(x), token_embedding.ref(), e, core::write(y), c);
    kernels::log_softmax(core::read(y), core::write(y), c.run);
    search::require_numbers(core::read(y), c.run);
    c.trace("log_probs", y);
  }

 private:
  void run(std::span<const int> ids, std::span<const kv_cache> encoded, nemo_decoder_state& s,
           view<float, dynamic, D> y, context& c) const {
    auto scope = c.enter("transf_decoder");
    s.sequences.each_part([&](const kv_sequences::part& p) {
      for (extent i = 0; i < p.count; ++i)
        embed(ids[static_cast<std::size_t>(p.first + i)], p.position(i), y.row(p.first + i).data());
    });
    embedding_norm(core::as<const float, dynamic, D>(y), y, nullptr, no_env{}, c);
    c.trace("embedding", y);
    stack(core::as<const float, dynamic, D>(y), y, &s.of(stack), decoder_env{s.sequences, encoded}, c);
  }
  void embed(int id, extent position, float* to) const noexcept {
    const weights::weight_ref w = token_embedding.ref();
    weights::dequantise(w.format, w.row(id), to, static_cast<std::size_t>(w.cols));
    const float* p = pos_enc.floats() + position * w.cols;
    for (extent i = 0; i < w.cols; ++i) to[i] += p[i];
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
