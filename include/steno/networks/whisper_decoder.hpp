// steno/networks/whisper_decoder.hpp - Whisper's text decoder: prompts at once, then one row for each beam.
//
//   x = token_embedding[ids] + positional_embedding[position ..]
//   blocks: x += attn(attn_ln(x)) causally;  x += cross_attn(cross_attn_ln(x), encoded);  x += mlp(mlp_ln(x))
//   y = ln(x);  logits = y token_embedding^T
//
// `TextDecoder` (whisper/model.py). Keys and values of the encoded rows are computed and packed once for a window. Rows
// written by self-attention lie in one cache for all beams; a beam's past is a list of rows, so a fork copies numbers.
// Tested on golden stages in tests/parity/whisper_test.cpp and tests/models/whisper_test.cpp.
#pragma once
#include <steno/core/aligned.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/product.hpp>
#include <steno/networks/whisper_encoder.hpp>
#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

template <extent D, extent Heads>
struct whisper_decoder_block {
  static constexpr extent input = D, output = D;
  whisper_attention<D, Heads> attn, cross_attn;
  layer_norm<D> attn_ln, cross_attn_ln, mlp_ln;
  whisper_mlp<D> mlp;

  void members(auto&& v) {
    v("attn", attn);
    v("attn_ln", attn_ln);
    v("cross_attn", cross_attn);
    v("cross_attn_ln", cross_attn_ln);
    v("mlp", mlp);
    v("mlp_ln", mlp_ln);
    for (const extent n : {attn.input_size(), attn_ln.input_size(), cross_attn.input_size(), cross_attn_ln.input_size(),
                           mlp.input_size()})
      v.equal("widths of a block's parts", n, mlp_ln.input_size());
    v.equal("heads of attn and cross_attn", attn.heads.get(), cross_attn.heads.get());
  }
  extent input_size() const noexcept { return attn.input_size(); }
  extent output_size() const noexcept { return mlp.output_size(); }
};

/// Keys and values of an encoded window for every block, packed for the attention; halves where the weights are
/// quantised, since those results are that far from exact ones.
struct whisper_memory {
  line_vector<std::byte> values;
  extent rows = 0;
  dtype format = dtype::f32;
};

/// What was written so far: [key | value] rows of every block, and the rows that belong to each beam. Copyable; its
/// memory is kept when it is cleared.
class whisper_past {
 public:
  /// Position of the next token.
  extent length() const noexcept { return length_; }
  extent beams() const noexcept { return count_; }
  void clear() noexcept { length_ = used_ = count_ = 0; }

  /// Beam i continues what beam `sources[i]` was; the number of beams may change. After a prompt, all continue it.
  void fork(std::span<const int> sources) {
    const bool fresh = count_ == 0;
    count_ = static_cast<extent>(sources.size());
    for (auto* lists : {&beams_, &other_})
      if (lists->size() < sources.size()) lists->resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto& to = other_[i];
      if (to.capacity() < longest) to.reserve(longest);
      if (!fresh) {
        const auto& from = beams_[static_cast<std::size_t>(sources[i])];
        to.assign(from.begin(), from.end());
        continue;
      }
      to.resize(static_cast<std::size_t>(length_));
      for (extent t = 0; t < length_; ++t) to[static_cast<std::size_t>(t)] = t;
    }
    beams_.swap(other_);
  }

 private:
  static constexpr std::size_t longest = 512;  // the published models write up to 448 tokens
  template <extent, extent, extent, extent>
  friend struct whisper_decoder;
  extent extend(extent count, std::size_t blocks, extent width) {
    if (rows_.size() < blocks) rows_.resize(blocks);
    const auto needed = static_cast<std::size_t>((used_ + count) * width);
    for (auto& r : rows_)
      if (r.size() < needed) r.resize(needed + needed / 2);
    const extent first = used_;
    used_ += count;
    return first;
  }
  std::vector<std::vector<float>> rows_;            // of each block: [row][key | value]
  std::vector<std::vector<extent>> beams_, other_;  // rows of each beam, oldest first
  extent length_ = 0, used_ = 0, count_ = 0;
};

/// Scores of chosen cross-attention heads over the encoded rows: what word times are made of.
struct whisper_attention_scores {
  std::span<const std::pair<int, int>> heads;  ///< (block, head)
  float* scores = nullptr;                     ///< [head of `heads`][token][row], scaled, before the softmax
};

template <extent D, extent Heads, extent Vocab, extent N>
struct whisper_decoder {
  static constexpr extent input = D, output = Vocab;

  weight<Vocab, D> token_embedding;  ///< read as rows and as a product
  weight<is_static(D) ? 448 : dynamic, D, dtype::f32, use::rows> positional_embedding;
  numbered<N, whisper_decoder_block<D, Heads>> blocks;
  layer_norm<D> ln;

  void members(auto&& v) {
    v("token_embedding.weight", token_embedding);
    v("positional_embedding", positional_embedding);
    v("blocks", blocks);
    v("ln", ln);
    for (const extent n : {token_embedding.cols(), positional_embedding.cols(), blocks.output_size()})
      v.equal("widths of the decoder's parts", n, ln.input_size());
  }
  extent width() const noexcept { return ln.input_size(); }
  extent vocabulary() const noexcept { return token_embedding.rows(); }
  /// Most tokens of a sequence: 448.
  extent context_size() const noexcept { return positional_embedding.rows(); }

  /// Keys and values of the encoder's rows, for every block.
  void remember(view<const float, dynamic, D> encoded, whisper_memory& m, context& c) const {
    const extent d = width(), rows = encoded.rows();
    m.rows = rows;
    if (blocks.layers.empty()) return;
    const dtype stored = blocks.layers.front().cross_attn.key.w.format;
    m.format = kernels::family_of(stored) == kernels::weight_family::int8_blocks ? dtype::f16 : dtype::f32;
    m.values.resize(memory_of(m, 0).bytes() * blocks.layers.size());
    workspace::frame scratch(c.scratch);
    const kernels::operand o =
        kernels::prepare(read(encoded), blocks.layers.front().cross_attn.key.w.format, scratch, c.run);
    auto k = scratch.template matrix<dynamic, D>(rows, d), v = scratch.template matrix<dynamic, D>(rows, d);
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      const auto& a = blocks.layers[i].cross_attn;
      a.key.multiply(o, k, c);
      a.value.multiply(o, v, c);
      auto numbered = c.enter("blocks", static_cast<extent>(i));
      c.trace("cross_attn.key", k);
      c.trace("cross_attn.value", v);
      kernels::pack_attention(read(k), read(v), memory_of(m, i), c);
    }
  }

  /// `ids` one after another, following what `past` holds (which must not have forked). y [ids, D] gets the rows after
  /// `ln`; logits() makes scores of those that matter. At most context_size() tokens in all.
  void prompt(std::span<const int> ids, const whisper_memory& m, whisper_past& past, view<float, dynamic, D> y,
              context& c, const whisper_attention_scores* seen = nullptr) const {
    assert(past.beams() == 0);
    const extent n = static_cast<extent>(ids.size()), d = width();
    const extent first = past.extend(n, blocks.layers.size(), 2 * d);
    for (extent t = 0; t < n; ++t) embed(ids[static_cast<std::size_t>(t)], past.length_ + t, y.row(t).data());
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      const auto& a = blocks.layers[i].attn;
      block(i, y, past.rows_[i].data() + first * 2 * d, m, c, seen, [&](const view<const float>& q, view<float> heard) {
        const auto all = make_view(static_cast<const float*>(past.rows_[i].data()), first + n, 2 * d);
        kernels::attention(q, read(all.leftCols(d)), read(all.rightCols(d)), a.heads.get(),
                           {.scale = a.scale(), .rounds = a.query.quantised(), .causal = true, .causal_offset = first},
                           heard, c);
      });
      auto numbered = c.enter("blocks", static_cast<extent>(i));
      c.trace("out", y);
    }
    past.length_ += n;
    finish(y, c);
  }

  /// The next token of every beam (fork() makes them). y [beams, D] as above.
  void step(std::span<const int> ids, const whisper_memory& m, whisper_past& past, view<float, dynamic, D> y,
            context& c) const {
    assert(static_cast<extent>(ids.size()) == past.beams());
    const extent n = past.beams(), d = width();
    const extent first = past.extend(n, blocks.layers.size(), 2 * d);
    for (extent b = 0; b < n; ++b) {
      past.beams_[static_cast<std::size_t>(b)].push_back(first + b);
      embed(ids[static_cast<std::size_t>(b)], past.length_, y.row(b).data());
    }
    for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
      const auto& a = blocks.layers[i].attn;
      block(i, y, past.rows_[i].data() + first * 2 * d, m, c, nullptr,
            [&](const view<const float>& q, view<float> heard) {
              const auto all = make_view(static_cast<const float*>(past.rows_[i].data()), past.used_, 2 * d);
              for (extent b = 0; b < n; ++b) {
                const auto& rows = past.beams_[static_cast<std::size_t>(b)];
                kernels::attention(
                    read(q.middleRows(b, 1)), read(all.leftCols(d)), read(all.rightCols(d)), a.heads.get(),
                    {.scale = a.scale(), .key_rows = rows.data(), .key_count = static_cast<extent>(rows.size())},
                    write(heard.middleRows(b, 1)), c);
              }
            });
    }
    ++past.length_;
    finish(y, c);
  }

  /// Rows of prompt() or step() to scores of what follows: y [rows, Vocab].
  void logits(view<const float, dynamic, D> x, view<float, dynamic, Vocab> y, context& c) const {
    kernels::matmul(read(x), token_embedding.ref(), {}, write(y), c);
    c.trace("logits", y);
  }

 private:
  void embed(int id, extent position, float* to) const noexcept {
    const weight_ref w = token_embedding.ref();
    dequantise(w.format, w.row(id), to, static_cast<std::size_t>(w.cols));
    const float* p = positional_embedding.floats() + position * w.cols;
    for (extent i = 0; i < w.cols; ++i) to[i] += p[i];
  }
  void finish(view<float, dynamic, D>& y, context& c) const {
    ln(as<const float, dynamic, D>(y), y, nullptr, no_env{}, c);
    c.trace("ln", y);
  }

  // One block over rows x; their keys and values go to kv [rows, 2 D], and look(queries, result) does the
  // self-attention.
  template <class Look>
  void block(std::size_t i, view<float, dynamic, D>& x, float* kv, const whisper_memory& m, context& c,
             const whisper_attention_scores* seen, Look&& look) const {
    const auto& b = blocks.layers[i];
    const extent rows = x.rows(), d = width();
    workspace::frame scratch(c.scratch);
    auto normed = scratch.template matrix<dynamic, D>(rows, d);
    auto q = scratch.template matrix<dynamic, D>(rows, d);
    auto heard = scratch.template matrix<dynamic, D>(rows, d);
    const auto same = as<const float, dynamic, D>(normed);
    const auto result = as<const float, dynamic, D>(heard);

    const addend sum{x.data(), x.outerStride()};
    b.attn_ln(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    {
      workspace::frame inner(c.scratch);
      const kernels::operand o = kernels::prepare(read(normed), b.attn.query.w.format, inner, c.run);
      b.attn.query.multiply(o, q, c);
      b.attn.key.multiply(o, make_view<dynamic, D>(kv, rows, d, 2 * d), c);
      b.attn.value.multiply(o, make_view<dynamic, D>(kv + d, rows, d, 2 * d), c);
    }
    look(read(q), write(heard));
    b.attn.out(result, x, nullptr, no_env{}, c, sum);

    b.cross_attn_ln(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    b.cross_attn.query.multiply(same, q, c);
    hear(i, read(q), m, write(heard), c);
    if (seen != nullptr) score(i, read(q), m, *seen, c);
    b.cross_attn.out(result, x, nullptr, no_env{}, c, sum);

    b.mlp_ln(as<const float, dynamic, D>(x), normed, nullptr, no_env{}, c);
    b.mlp(same, x, nullptr, no_env{}, c, sum);
  }

  kernels::attention_memory memory_of(const whisper_memory& m, std::size_t block) const noexcept {
    const auto& a = blocks.layers[block].cross_attn;
    kernels::attention_memory of{.data = nullptr,
                                 .format = m.format,
                                 .heads = a.heads.get(),
                                 .keys = m.rows,
                                 .width = a.head_width(),
                                 .value_width = a.head_width()};
    of.data = const_cast<std::byte*>(m.values.data()) + of.bytes() * block;
    return of;
  }
  void hear(std::size_t i, const view<const float>& q, const whisper_memory& m, view<float> y, context& c) const {
    kernels::attention(q, memory_of(m, i), blocks.layers[i].cross_attn.scale(), y, c);
  }
  // The scores of the heads that are asked for.
  void score(std::size_t i, const view<const float>& q, const whisper_memory& m, const whisper_attention_scores& seen,
             context& c) const {
    const auto& a = blocks.layers[i].cross_attn;
    const extent wide = a.head_width();
    for (std::size_t n = 0; n < seen.heads.size(); ++n) {
      const auto [block, head] = seen.heads[n];
      if (static_cast<std::size_t>(block) != i) continue;
      workspace::frame scratch(c.scratch);
      auto k = scratch.matrix(m.rows, wide);
      kernels::unpack_keys(memory_of(m, i), head, k);
      const weight_ref keys{.data = reinterpret_cast<const std::byte*>(k.data()), .rows = m.rows, .cols = wide};
      kernels::matmul(read(q.middleCols(head * wide, wide)), keys, {.scale = a.scale()},
                      make_view(seen.scores + static_cast<extent>(n) * q.rows() * m.rows, q.rows(), m.rows), c);
    }
  }
};

}  // namespace steno::inline STENO_ABI
