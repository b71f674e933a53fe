// steno/layers/cross_attention.hpp - attention of tokens over an encoder's rows.
//
//   k, v = products(encoded);  y = out(softmax(query(x) k^T / sqrt(width of a head)) v)
//
// One layer for every decoder; `Products` are layers/attention_products.hpp. What it looks at is the record's
// `encoded`: either the encoder's rows, prepared for its product (FunASR `MultiHeadedAttentionCrossAtt`,
// funasr/models/sanm/attention.py, where each is needed once; in a stream, `forward_chunk`, the last rows of the pieces
// before are seen, too), or the keys and values that keep_encoded() made of them for many calls (Whisper, WeNet).
// Tested in tests/parity/paraformer_test.cpp, paraformer_online_test.cpp, whisper_test.cpp and wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/softmax.hpp>
#include <steno/layers/attention_products.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/layers/kv_cache.hpp>
#include <steno/layers/kv_sequences.hpp>

#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Scores of chosen heads of a decoder over the encoder's rows: what times of words are made of.
struct cross_attention_scores {
  std::span<const std::pair<int, int>> heads;  ///< (layer, head)
  float* scores = nullptr;                     ///< [head of `heads`][token][row], scaled, before the softmax
};

/// x [tokens, D] -> y [tokens, D]; y may be x.
template <class Products>
struct cross_attention {
  static constexpr extent input = Products::input, output = Products::output;
  static constexpr extent mixed_width = Products::mixed;  ///< columns of the mixed values, which `out` reads
  static constexpr bool in_place = true;
  /// In a stream: keys and values of the encoder's rows before.
  using state = kv_cache;

  Products products;  ///< projections of tokens and of the encoder's rows

  void members(auto&& v) { products.members(v); }
  extent input_size() const noexcept { return products.input_size(); }
  extent output_size() const noexcept { return products.output_size(); }
  /// Heads of queries, keys and values.
  extent heads() const noexcept { return products.head_count(); }
  /// Columns of one head.
  extent head_width() const noexcept { return products.head_width(); }
  /// What a score is multiplied by: 1 / sqrt(width of a head).
  float scale() const noexcept { return 1.0f / std::sqrt(static_cast<float>(head_width())); }
  state start() const { return {}; }
  void restart(state& s) const noexcept { s.clear(); }

  /// Keys and values of an encoder's rows, for many calls: as rows, or packed for kernels that read all of them.
  void keep_encoded(const kernels::operand& encoded, bool pack, kv_cache& kept, context& c) const {
    core::workspace::frame scratch(c.scratch);
    const attention_rows r = products.keys_and_values(encoded, scratch, c);
    if (pack)
      return kept.pack(core::read(r.k), core::read(r.v), heads(),
                       kernels::packed_format_beside(products.encoded_format()), c);
    kept.clear();
    kept.append(core::read(r.k), core::read(r.v), heads());
  }

  /// How x [tokens, D] attends to the encoder's rows: `to` [heads][tokens][rows], after the softmax. `encoded` is
  /// prepared as for a call.
  void probabilities(view<const float, dynamic, input> x, const kernels::operand& encoded, float* to,
                     context& c) const {
    core::workspace::frame scratch(c.scratch);
    const view<float> q = products.queries(x, scratch, c);
    const attention_rows r = products.keys_and_values(encoded, scratch, c);
    auto k = scratch.matrix(encoded.rows, head_width());
    for (extent head = 0; head < heads(); ++head) {
      k = r.k.middleCols(head * head_width(), head_width());
      const auto out = core::make_view(to + head * q.rows() * encoded.rows, q.rows(), encoded.rows);
      score(core::read(q), head, core::read(k), out, c);
      kernels::softmax(core::read(out), out, c.run);
    }
  }

  /// Of the record: `encoded`, a kernels::operand or a kept kv_cache, and with a state `keep`: the rows that it kept
  /// are seen before these, and the last `keep` of all stay in it. With `scores` it also gives those of chosen heads.
  template <class Env>
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const Env& env,
                  context& c, const addend& to = {}) const {
    static_assert(
        requires { env.encoded; }, "steno: this stack's record has no `encoded`, which cross-attention reads");
    core::workspace::frame scratch(c.scratch);
    auto mixed = scratch.template matrix<dynamic, mixed_width>(x.rows(), products.mixed_size());
    {
      core::workspace::frame inner(c.scratch);
      const view<float> q = products.queries(x, inner, c);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(env.encoded)>, kv_cache>)
        attend_kept(core::read(q), env.encoded, core::write(mixed), c);
      else
        attend_encoded(core::read(q), s, env, core::write(mixed), c);
      if constexpr (requires { env.scores; })
        if (env.scores != nullptr) show(core::read(q), env.encoded, *env.scores, env.number, c);
    }
    products.out(core::as<const float, dynamic, mixed_width>(mixed), y, nullptr, env, c, to);
  }

 private:
  kernels::attention_options options() const noexcept {
    return {.scale = scale(), .rounds = kernels::rounds_beside(products.weight_format())};
  }
  void attend_rows(const view<const float>& q, const kv_cache& rows, view<float> mixed, context& c) const {
    kernels::attention_options o = options();
    o.key_head_stride = rows.key_head_stride();
    o.value_head_stride = rows.value_head_stride();
    o.key_heads = heads();
    kernels::attention(q, rows.keys(), rows.values(), heads(), o, mixed, c);
  }
  void attend_kept(const view<const float>& q, const kv_cache& kept, view<float> mixed, context& c) const {
    if (kept.is_packed())
      kernels::attention(q, kept.packed(), scale(), mixed, c);
    else
      attend_rows(q, kept, mixed, c);
  }
  void attend_encoded(const view<const float>& q, state* s, const auto& env, view<float> mixed, context& c) const {
    core::workspace::frame scratch(c.scratch);
    const attention_rows r = products.keys_and_values(env.encoded, scratch, c);
    if (s == nullptr || keep_of(env) == 0)
      return kernels::attention(q, core::read(r.k), core::read(r.v), heads(), options(), mixed, c);
    s->append(core::read(r.k), core::read(r.v), heads());
    attend_rows(q, *s, mixed, c);
    s->keep(keep_of(env));
  }
  // Scaled scores of a head: q of all heads, its keys [rows, head width] without a gap -> out [tokens, rows].
  void score(const view<const float>& q, extent head, const view<const float>& keys, const view<float>& out,
             context& c) const {
    const extent wide = head_width();
    const weights::weight_ref w{
        .data = reinterpret_cast<const std::byte*>(keys.data()), .rows = keys.rows(), .cols = wide};
    kernels::matmul(core::read(q.middleCols(head * wide, wide)), w, {.scale = scale()}, out, c);
  }
  // The scores of the heads that are wanted of this layer.
  void show(const view<const float>& q, const kv_cache& kept, const cross_attention_scores& to, extent number,
            context& c) const {
    const extent wide = head_width();
    for (std::size_t n = 0; n < to.heads.size(); ++n) {
      const auto [layer, head] = to.heads[n];
      if (static_cast<extent>(layer) != number) continue;
      core::workspace::frame scratch(c.scratch);
      auto k = scratch.matrix(kept.rows(), wide);
      if (kept.is_packed())
        kernels::unpack_keys(kept.packed(), head, k);
      else
        k = core::make_view(kept.keys().data() + head * kept.key_head_stride(), kept.rows(), wide);
      score(q, head, core::read(k),
            core::make_view(to.scores + static_cast<extent>(n) * q.rows() * kept.rows(), q.rows(), kept.rows()), c);
    }
  }
};

/// What decoder_env::layer() gives a layer: its own keys and values of the encoder's rows.
struct decoder_layer_env {
  const kv_sequences& sequences;                   ///< rows of the caches that belong to each text
  const kv_cache& encoded;                         ///< kept by keep_encoded() for this layer
  const cross_attention_scores* scores = nullptr;  ///< where those of chosen heads go; null: nowhere
  extent number = 0;                               ///< of the layer
};
/// The record of a decoder whose layers each have keys and values of their own of the encoder's rows: a repeat gives
/// layer i what layer(i) says.
struct decoder_env {
  const kv_sequences& sequences;                   ///< rows of the caches that belong to each text
  std::span<const kv_cache> encoded;               ///< of each layer
  const cross_attention_scores* scores = nullptr;  ///< where those of chosen heads go; null: nowhere

  /// The record of layer i, from 0.
  decoder_layer_env layer(extent i) const noexcept {
    return {sequences, encoded[static_cast<std::size_t>(i)], scores, i};
  }
};

/// Keeps the encoder's rows [T, D] for every layer of a decoder's `repeat`: the stage Name of each is its
/// cross-attention.
template <core::fixed_string Name, class Repeat>
void keep_encoded(const Repeat& layers, const view<const float>& encoded, bool pack, std::vector<kv_cache>& kept,
                  context& c) {
  kept.resize(static_cast<std::size_t>(layers.size()));
  if (layers.empty()) return;
  core::workspace::frame scratch(c.scratch);
  const dtype format = layers.front().template get<Name>().products.encoded_format();
  const kernels::operand o = kernels::prepare(encoded, format, scratch, c.run);
  layers.each([&](const auto& l, extent i) {
    auto numbered = c.enter("", i);
    auto named = c.enter(Name.view());
    l.template get<Name>().keep_encoded(o, pack, kept[static_cast<std::size_t>(i)], c);
  });
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
