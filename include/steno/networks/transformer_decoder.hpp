// steno/networks/transformer_decoder.hpp - the attention decoder of U2: whole hypotheses at once, or step by step.
//
//   x = embed[ids] sqrt(D) + positions;  blocks: x += self_attn(norm1(x));  x += src_attn(norm2(x), encoded);
//   x += w_2(relu(w_1(norm3(x))));  scores = log_softmax(output_layer(after_norm(x)))
//
// WeNet `TransformerDecoder` (decoder.py, decoder_layer.py), norm first. Rows of several hypotheses are stacked, so
// every product runs once for all of them; only self-attention looks at each hypothesis by itself. Keys and values of
// the encoder's rows are computed once per utterance. A step's rows are beams, which are lists of row numbers, so a
// fork copies numbers. Tested in tests/parity/wenet_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/softmax.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/cross_attention.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/stack.hpp>
#include <steno/search/scores.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// `DecoderLayer`, norm first: x [rows, D] -> y [rows, D]; the record is a decoder_layer_env.
template <extent D, extent Heads, extent Ffn>
struct transformer_decoder_block
    : sequence<
          residual<at<"norm1", layer_norm<D>>, at<"self_attn", attention<separate_products<D, Heads, linear_names>>>>,
          residual<at<"norm2", layer_norm<D>>,
                   at<"src_attn", cross_attention<separate_products<D, Heads, linear_names>>>>,
          residual<at<"norm3", layer_norm<D>>, at<"feed_forward", feed_forward<D, Ffn>>>> {};

/// Sizes by name; what is left out is adopted from the file.
struct transformer_decoder_sizes {
  extent width = dynamic;       ///< of the layers, and of the encoder's rows
  extent heads = dynamic;       ///< of both attentions
  extent units = dynamic;       ///< inner width of the feed-forward parts
  extent layers = dynamic;      ///< of both attentions and feed-forward parts
  extent vocabulary = dynamic;  ///< units in all
};

/// The decoder. Calls are const: threads may share it, each with a state of its own.
template <transformer_decoder_sizes S>
struct transformer_decoder {
 private:
  static constexpr extent D = S.width, Vocab = S.vocabulary;

 public:
  static constexpr extent input = D, output = Vocab;
  /// What follows the embedding: the blocks, a norm and the product that makes scores.
  using stack_type = sequence<at<"decoders", repeat<S.layers, transformer_decoder_block<D, S.heads, S.units>>>,
                              at<"after_norm", layer_norm<D>>, at<"output_layer", linear<D, Vocab>>>;
  /// What a search keeps; fork() it as its beams do.
  using state = decoder_state<state_of<stack_type>>;

  weights::weight<Vocab, D, dtype::f32, weights::use::rows> embed;  ///< a row for each unit
  stack_type stack;                                                 ///< all that follows

  void members(auto&& v) {
    v("embed.0.weight", embed);
    v("", stack);
    v.equal("widths of embed and after_norm", embed.cols(), stack.input_size());
    v.equal("rows of embed and output_layer", embed.rows(), stack.output_size());
  }
  /// Columns of a row of the blocks.
  extent width() const noexcept { return stack.input_size(); }
  /// Units that are scored.
  extent vocabulary() const noexcept { return stack.output_size(); }

  /// Keys and values of the encoder's rows [T, D] for every block.
  void keep_encoded(const view<const float>& encoded, std::vector<kv_cache>& kept, context& c) const {
    steno::nn::keep_encoded<"src_attn">(stack.template get<"decoders">(), encoded, false, kept, c);
  }

  /// Scores of stacked hypotheses: `ids` of all rows, hypothesis i is rows begin[i] .. begin[i + 1] - 1. y [rows,
  /// Vocab] gets the log-probabilities of what follows each row.
  void operator()(std::span<const int> ids, std::span<const extent> begin, std::span<const kv_cache> encoded,
                  view<float, dynamic, Vocab> y, context& c) const {
    kv_sequences sequences;
    sequences.begin_with(begin);
    score(ids, sequences, encoded, nullptr, y, c);
  }

  /// The next row of each beam: ids[b] follows beam b, or begins it. y [beams, Vocab] as above.
  void step(std::span<const int> ids, std::span<const kv_cache> encoded, state& s, view<float, dynamic, Vocab> y,
            context& c) const {
    s.sequences.extend_each(static_cast<extent>(ids.size()));
    score(ids, s.sequences, encoded, &s.of(stack), y, c);
  }

 private:
  void score(std::span<const int> ids, const kv_sequences& sequences, std::span<const kv_cache> encoded,
             state_of<stack_type>* s, view<float, dynamic, Vocab> y, context& c) const {
    const extent d = width();
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, D>(static_cast<extent>(ids.size()), d);
    const float root = std::sqrt(static_cast<float>(d));
    sequences.each_part([&](const kv_sequences::part& p) {
      auto rows = core::write(x.middleRows(p.first, p.count));
      write_positions(p.position(0), rows, c);
      for (extent t = 0; t < p.count; ++t) {
        const float* e = embed.floats() + ids[static_cast<std::size_t>(p.first + t)] * d;
        float* to = rows.data() + t * rows.outerStride();
        for (extent i = 0; i < d; ++i) to[i] = e[i] * root + to[i];
      }
    });
    stack(core::as<const float, dynamic, D>(x), y, s, decoder_env{sequences, encoded}, c);
    kernels::log_softmax(core::read(y), core::write(y), c.run);
    search::require_numbers(core::read(y), c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
