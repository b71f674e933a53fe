// steno/networks/whisper_decoder.hpp - Whisper's text decoder: prompts at once, then one row for each beam.
//
//   x = token_embedding[ids] + positional_embedding[position ..]
//   blocks: x += attn(attn_ln(x)) causally;  x += cross_attn(cross_attn_ln(x), encoded);  x += mlp(mlp_ln(x))
//   y = ln(x);  logits = y token_embedding^T
//
// `TextDecoder` (whisper/model.py). Keys and values of the encoded rows are computed and packed once for a window. Rows
// written by self-attention lie in one cache for all beams; a beam is a list of rows, so a fork copies numbers. Tested
// on golden stages in tests/parity/whisper_test.cpp and tests/models/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/cross_attention.hpp>
#include <steno/networks/whisper_encoder.hpp>
#include <steno/weights/blocks.hpp>

#include <cassert>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `ResidualAttentionBlock` with cross-attention: x [rows, D] -> y [rows, D]; the record is a decoder_layer_env.
template <extent D, extent Heads>
struct whisper_decoder_block
    : sequence<
          residual<at<"attn_ln", layer_norm<D>>, at<"attn", attention<whisper_products<D, Heads>>>>,
          residual<at<"cross_attn_ln", layer_norm<D>>, at<"cross_attn", cross_attention<whisper_products<D, Heads>>>>,
          residual<at<"mlp_ln", layer_norm<D>>, at<"mlp", whisper_mlp<D>>>> {};

/// What follows the embedding: the blocks and a norm.
template <extent D, extent Heads, extent N>
struct whisper_decoder_stack
    : sequence<at<"blocks", repeat<N, whisper_decoder_block<D, Heads>>>, at<"ln", layer_norm<D>>> {};

/// What was written so far; one for each thread. The same type for every size.
using whisper_decoder_state = decoder_state<state_of<whisper_decoder_stack<dynamic, dynamic, dynamic>>>;

/// The decoder. Calls are const: threads may share it, each with a state of its own.
template <extent D, extent Heads, extent Vocab, extent N>
struct whisper_decoder {
  static constexpr extent input = D, output = Vocab;

  weights::weight<Vocab, D, dtype::any, weights::use::both> token_embedding;  ///< rows in front, a product in the end
  /// A row for each place in a sequence.
  weights::weight<core::is_static(D) ? 448 : dynamic, D, dtype::f32, weights::use::rows> positional_embedding;
  whisper_decoder_stack<D, Heads, N> stack;  ///< blocks and norm

  void members(auto&& v) {
    v("token_embedding.weight", token_embedding);
    v("positional_embedding", positional_embedding);
    v("", stack);
    for (const extent n : {token_embedding.cols(), positional_embedding.cols(), stack.input_size()})
      v.equal("widths of the decoder's parts", n, stack.output_size());
  }
  /// Columns of a row of the blocks.
  extent width() const noexcept { return stack.output_size(); }
  /// Tokens that are scored.
  extent vocabulary() const noexcept { return token_embedding.rows(); }
  /// The largest number of tokens of a sequence: 448.
  extent context_size() const noexcept { return positional_embedding.rows(); }
  /// The blocks in order: a repeat.
  const auto& blocks() const noexcept { return stack.template get<"blocks">(); }
  /// Heads of a block's cross-attention.
  extent cross_heads(extent block) const noexcept { return blocks()[block].template get<"cross_attn">().heads(); }

  /// Keys and values of the encoder's rows [T, D] for every block, packed; as halves where the weights are quantised,
  /// since those results are that far from exact ones.
  void keep_encoded(view<const float, dynamic, D> encoded, std::vector<kv_cache>& kept, context& c) const {
    auto scope = c.enter("blocks");
    steno::nn::keep_encoded<"cross_attn">(blocks(), core::read(encoded), true, kept, c);
  }

  /// `ids` one after another, following what `s` holds (which must not have forked). y [ids, D] gets the rows after
  /// `ln`; logits() makes scores of those that matter. No more than context_size() tokens in all.
  void prompt(std::span<const int> ids, std::span<const kv_cache> encoded, whisper_decoder_state& s,
              view<float, dynamic, D> y, context& c, const cross_attention_scores* scores = nullptr) const {
    assert(s.sequences.size() <= 1);
    s.sequences.extend(static_cast<extent>(ids.size()));
    run(ids, encoded, s, y, c, scores);
  }

  /// The next token of every beam (fork() makes them). y [beams, D] as above.
  void step(std::span<const int> ids, std::span<const kv_cache> encoded, whisper_decoder_state& s,
            view<float, dynamic, D> y, context& c) const {
    assert(static_cast<extent>(ids.size()) == s.sequences.size());
    s.sequences.extend_each(s.sequences.size());
    run(ids, encoded, s, y, c, nullptr);
  }

  /// Rows of prompt() or step() to scores of what follows: y [rows, Vocab].
  void logits(view<const float, dynamic, D> x, view<float, dynamic, Vocab> y, context& c) const {
    kernels::matmul(core::read(x), token_embedding.ref(), {}, core::write(y), c);
    c.trace("logits", y);
  }

 private:
  void run(std::span<const int> ids, std::span<const kv_cache> encoded, whisper_decoder_state& s,
           view<float, dynamic, D> y, context& c, const cross_attention_scores* scores) const {
    s.sequences.each_part([&](const kv_sequences::part& p) {
      for (extent i = 0; i < p.count; ++i)
        embed(ids[static_cast<std::size_t>(p.first + i)], p.position(i), y.row(p.first + i).data());
    });
    stack(core::as<const float, dynamic, D>(y), y, &s.of(stack), decoder_env{s.sequences, encoded, scores}, c);
  }
  void embed(int id, extent position, float* to) const noexcept {
    const weights::weight_ref w = token_embedding.ref();
    weights::dequantise(w.format, w.row(id), to, static_cast<std::size_t>(w.cols));
    const float* p = positional_embedding.floats() + position * w.cols;
    for (extent i = 0; i < w.cols; ++i) to[i] += p[i];
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
