// steno/networks/transformer_decoder.hpp - the attention decoder of U2: whole hypotheses at once, or step by step.
//
//   x = embed[ids] sqrt(D) + positions;  blocks: x += self_attn(norm1(x));  x += src_attn(norm2(x), memory);
//   x += w_2(relu(w_1(norm3(x))));  scores = log_softmax(output_layer(after_norm(x)))
//
// WeNet `TransformerDecoder` (decoder.py, decoder_layer.py), norm first. Rows of several hypotheses are stacked, so
// every product runs once for all of them; only self-attention looks at each hypothesis by itself. Keys and values of
// the memory are computed once per utterance. A step's rows are beams; their pasts are lists of row numbers, so a fork
// copies numbers. Tested in tests/parity/wenet_test.cpp (golden stages).
#pragma once
#include <steno/decoders/scores.hpp>
#include <steno/kernels/attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/layers/attention.hpp>
#include <steno/layers/causal_attention.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/positions.hpp>
#include <steno/layers/stack.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace steno::inline STENO_ABI {

/// The four products of attention; what it looks at differs from call to call.
template <extent D, extent Heads>
using decoder_attention = attention<D, Heads, attention_names<"linear_q", "linear_k", "linear_v", "linear_out">>;

template <extent D, extent Heads, extent Ffn>
struct decoder_block {
  static constexpr extent input = D, output = D;
  layer_norm<D> norm1, norm2, norm3;
  decoder_attention<D, Heads> self_attn, src_attn;
  steno::feed_forward<D, Ffn> feed_forward;

  void members(auto&& v) {
    v("norm1", norm1);
    v("norm2", norm2);
    v("norm3", norm3);
    v("self_attn", self_attn);
    v("src_attn", src_attn);
    v("feed_forward", feed_forward);
    for (const extent n : {norm1.input_size(), norm2.input_size(), self_attn.input_size(), src_attn.input_size(),
                           feed_forward.input_size(), feed_forward.output_size()})
      v.equal("widths of a block's parts", n, norm3.input_size());
  }
  extent input_size() const noexcept { return norm1.input_size(); }
  extent output_size() const noexcept { return norm3.output_size(); }
};

template <extent D, extent Heads, extent Ffn, extent Vocab, extent N>
struct transformer_decoder {
  static constexpr extent input = D, output = Vocab;

  weight<Vocab, D, dtype::f32, use::rows> embed;
  numbered<N, decoder_block<D, Heads, Ffn>> decoders;
  layer_norm<D> after_norm;
  linear<D, Vocab> output_layer;

  void members(auto&& v) {
    v("embed.0.weight", embed);
    v("decoders", decoders);
    v("after_norm", after_norm);
    v("output_layer", output_layer);
    v.equal("widths of embed and after_norm", embed.cols(), after_norm.input_size());
    v.equal("widths of the blocks and after_norm", decoders.output_size(), after_norm.input_size());
    v.equal("widths of output_layer and after_norm", output_layer.input_size(), after_norm.input_size());
    v.equal("rows of embed and output_layer", embed.rows(), output_layer.output_size());
  }
  extent width() const noexcept { return after_norm.input_size(); }
  extent vocabulary() const noexcept { return output_layer.output_size(); }

  /// Keys and values of the encoder's rows for every block: [key | value] of 2 D, block after block.
  struct memory {
    std::vector<float> values;
    extent rows = 0;
  };
  void remember(const view<const float>& encoded, memory& m, context& c) const {
    const extent d = width();
    m.rows = encoded.rows();
    m.values.resize(static_cast<std::size_t>(m.rows * 2 * d) * decoders.layers.size());
    for (std::size_t i = 0; i < decoders.layers.size(); ++i) {
      const auto& a = decoders.layers[i].src_attn;
      float* at = m.values.data() + static_cast<std::size_t>(m.rows * 2 * d) * i;
      a.key.multiply(as<const float, dynamic, D>(encoded), make_view<dynamic, D>(at, m.rows, d, 2 * d), c);
      a.value.multiply(as<const float, dynamic, D>(encoded), make_view<dynamic, D>(at + d, m.rows, d, 2 * d), c);
    }
  }

  /// Scores of stacked hypotheses: `ids` of all rows, hypothesis i is rows begin[i] .. begin[i + 1] - 1. y [rows,
  /// Vocab] gets the log-probabilities of what follows each row.
  void operator()(std::span<const int> ids, std::span<const extent> begin, const memory& m,
                  view<float, dynamic, Vocab> y, context& c) const {
    const extent rows = static_cast<extent>(ids.size()), d = width();
    workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, D>(rows, d);
    for (std::size_t h = 0; h + 1 < begin.size(); ++h)
      embed_rows(ids.subspan(static_cast<std::size_t>(begin[h]), static_cast<std::size_t>(begin[h + 1] - begin[h])), 0,
                 write(x.middleRows(begin[h], begin[h + 1] - begin[h])), c);
    auto kv = scratch.matrix(rows, 2 * d);
    for (std::size_t i = 0; i < decoders.layers.size(); ++i)
      block(i, x, kv, m, c, [&](const view<const float>& q, view<float> heard) {
        const auto& a = decoders.layers[i].self_attn;
        for (std::size_t h = 0; h + 1 < begin.size(); ++h) {
          const extent first = begin[h], n = begin[h + 1] - first;
          const auto own = kv.middleRows(first, n);
          causal_attention(read(q.middleRows(first, n)), read(own.leftCols(d)), read(own.rightCols(d)), a.heads.get(),
                           a.scale(), write(heard.middleRows(first, n)), c);
        }
      });
    score(x, y, c);
  }

  /// Pasts of beams: [key | value] of every step, block and beam, and which rows belong to each beam.
  struct state {
    std::vector<float> values;
    std::vector<std::vector<extent>> pasts;  ///< of each beam, oldest first: step * beams + beam
    extent steps = 0;
  };
  /// The next row of each beam: ids[b] follows the past of beam b. y [beams, Vocab] as above. Appends to the pasts; the
  /// caller then permutes or copies s.pasts as beams fork. The number of beams stays the same.
  void step(std::span<const int> ids, const memory& m, state& s, view<float, dynamic, Vocab> y, context& c) const {
    const extent beams = static_cast<extent>(ids.size()), d = width();
    const extent blocks = static_cast<extent>(decoders.layers.size()), each = beams * 2 * d;
    s.pasts.resize(ids.size());
    for (extent b = 0; b < beams; ++b) s.pasts[static_cast<std::size_t>(b)].push_back(s.steps * beams + b);
    s.values.resize(static_cast<std::size_t>((s.steps + 1) * blocks * each));
    workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, D>(beams, d);
    for (extent b = 0; b < beams; ++b)
      embed_rows(ids.subspan(static_cast<std::size_t>(b), 1), s.steps, write(x.middleRows(b, 1)), c);
    auto kv = scratch.matrix(beams, 2 * d);
    auto past = scratch.matrix(s.steps + 1, 2 * d);
    for (std::size_t i = 0; i < decoders.layers.size(); ++i)
      block(i, x, kv, m, c, [&](const view<const float>& q, view<float> heard) {
        const auto at = [&](extent step) { return s.values.data() + (step * blocks + static_cast<extent>(i)) * each; };
        make_view(at(s.steps), beams, 2 * d) = kv;
        for (extent b = 0; b < beams; ++b) {
          const auto& list = s.pasts[static_cast<std::size_t>(b)];
          for (std::size_t r = 0; r < list.size(); ++r)
            std::copy_n(at(list[r] / beams) + list[r] % beams * 2 * d, 2 * d,
                        past.data() + static_cast<extent>(r) * 2 * d);
          attend(decoders.layers[i].self_attn, q.middleRows(b, 1), past.topRows(static_cast<extent>(list.size())),
                 write(heard.middleRows(b, 1)), c);
        }
      });
    score(x, y, c);
    ++s.steps;
  }

 private:
  void embed_rows(std::span<const int> ids, extent first, view<float> x, context& c) const {
    const extent d = width();
    const float root = std::sqrt(static_cast<float>(d));
    write_positions(first, x, c);
    for (extent t = 0; t < x.rows(); ++t) {
      const float* e = embed.floats() + ids[static_cast<std::size_t>(t)] * d;
      float* to = x.data() + t * x.outerStride();
      for (extent i = 0; i < d; ++i) to[i] = e[i] * root + to[i];
    }
  }

  static void attend(const decoder_attention<D, Heads>& a, const view<const float>& q, const view<const float>& kv,
                     view<float> heard, context& c) {
    const extent d = kv.cols() / 2;
    kernels::attention(q, read(kv.leftCols(d)), read(kv.rightCols(d)), a.heads.get(), a.scale(), heard, c);
  }

  // One block over stacked rows; `look` does the self-attention: look(queries, result), keys and values are in kv.
  template <class Look>
  void block(std::size_t i, view<float, dynamic, D>& x, view<float>& kv, const memory& m, context& c,
             Look&& look) const {
    const auto& b = decoders.layers[i];
    const extent rows = x.rows(), d = width();
    workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(rows, d);
    auto q = scratch.template matrix<dynamic, D>(rows, d);
    auto heard = scratch.template matrix<dynamic, D>(rows, d);
    const auto same = as<const float, dynamic, D>(normed);
    const auto result = as<const float, dynamic, D>(heard);

    const addend sum{x.data(), x.outerStride()};
    b.norm1(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    {
      workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(read(normed), b.self_attn.query.w.format, inner, c.run);
      b.self_attn.query.multiply(o, q, c);
      b.self_attn.key.multiply(o, make_view<dynamic, D>(kv.data(), rows, d, 2 * d), c);
      b.self_attn.value.multiply(o, make_view<dynamic, D>(kv.data() + d, rows, d, 2 * d), c);
    }
    look(read(q), write(heard));
    b.self_attn.out(result, x, nullptr, no_env{}, c, sum);

    b.norm2(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    b.src_attn.query.multiply(same, q, c);
    const float* at = m.values.data() + static_cast<std::size_t>(m.rows * 2 * d) * i;
    attend(b.src_attn, read(q), make_view(at, m.rows, 2 * d), write(heard), c);
    b.src_attn.out(result, x, nullptr, no_env{}, c, sum);

    b.norm3(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    b.feed_forward(same, x, nullptr, no_env{}, c, sum);
  }

  void score(view<float, dynamic, D>& x, view<float, dynamic, Vocab> y, context& c) const {
    after_norm(as<const float, dynamic, D>(x), x, nullptr, no_env{}, c);
    output_layer.multiply(as<const float, dynamic, D>(x), y, c);
    kernels::log_softmax(read(y), write(y), c.run);
    require_numbers(read(y));
  }
};

}  // namespace steno::inline STENO_ABI
