// steno/layers/attention.hpp - self-attention: products, a score, and perhaps something beside it.
//
//   q, k, v = products(x);  y = out(softmax(score(q, k)) v) [+ beside(v)]
//
// One layer for every family. `Products` are the projections and what the checkpoint calls them
// (layers/attention_products.hpp); `Score` is what positions do to the score (plain here;
// layers/absolute_positions.hpp, relative_positions.hpp, rotary.hpp); `Beside` is SAN-M's memory of the values
// (layers/sanm_attention.hpp). What a row sees is the record's: `window`, or in a decoder `sequences`. In a stream the
// keys and values before are seen, too, and the new ones are kept as the record's `keep` and `again` say.
//
// `MultiHeadedAttention` of FunASR's adaptors, `MultiHeadAttention` of NeMo's transformer and of Whisper, Qwen's audio
// tower and everything that has a name of its own in layers/. Tested on golden stages (tests/parity).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/kernels/causal_attention.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/attention_products.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/layers/kv_cache.hpp>
#include <steno/layers/kv_sequences.hpp>

#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// score(i, j) = q_i . k_j / sqrt(width of a head).
struct plain_score {
  using state = no_state;
  void members(auto&&, const auto&) {}

  /// Before keys are kept: what the score makes of queries and keys.
  void prepare(attention_rows&, extent, extent, const auto&, core::workspace::frame&, context&) const {}
  /// Queries over the rows of `k` and `v` (with the options' head strides) that they may see.
  void attend(view<float> q, const view<const float>& k, const view<const float>& v, extent heads,
              const kernels::attention_options& o, state*, const auto& env, view<float> out, context& c) const {
    attend_in_window(core::read(q), k, v, heads, o, window_of(env), out, c);
  }
};

/// Nothing is added.
struct nothing_beside {
  void members(auto&&, const auto&) {}
};

/// What a stream keeps for attention: keys and values, and what its score keeps.
template <class ScoreState = no_state>
struct attention_state {
  kv_cache cache = {};                            ///< keys and values of the rows before
  STENO_NO_UNIQUE_ADDRESS ScoreState score = {};  ///< what `Score` keeps from call to call

  /// Bytes that keys and values hold.
  std::size_t bytes() const noexcept { return cache.bytes(); }
};

/// x [rows, input] -> y [rows, output]; y may be x where they are equally wide.
template <class Products, class Score = plain_score, class Beside = nothing_beside>
struct attention {
  static constexpr extent input = Products::input, output = Products::output;
  static constexpr extent mixed_width = Products::mixed;  ///< columns of the mixed values, which `out` reads
  static constexpr bool in_place = core::compatible(input, output);
  using state = attention_state<typename Score::state>;

  Products products;  ///< projections before and behind the attention
  Score score;        ///< what positions do to the score
  Beside beside;      ///< what is added to the result

  void members(auto&& v) {
    products.members(v);
    score.members(v, products);
    beside.members(v, products);
  }
  extent input_size() const noexcept { return products.input_size(); }
  extent output_size() const noexcept { return products.output_size(); }
  /// Heads of the queries.
  extent heads() const noexcept { return products.head_count(); }
  /// Columns of one head.
  extent head_width() const noexcept { return products.head_width(); }
  state start() const { return {}; }
  void restart(state& s) const {
    s.cache.clear();
    s.score = {};
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c, const addend& to = {}) const {
    core::workspace::frame scratch(c.scratch);
    auto mixed = scratch.template matrix<dynamic, mixed_width>(x.rows(), products.mixed_size());
    if constexpr (std::is_same_v<Beside, nothing_beside>) {
      mix(x, s, env, core::write(mixed), c, [](const attention_rows&) {});
      products.out(core::as<const float, dynamic, mixed_width>(mixed), y, nullptr, env, c, to);
    } else {
      auto added = scratch.template matrix<dynamic, output>(x.rows(), output_size());
      mix(x, s, env, core::write(mixed), c,
          [&](const attention_rows& r) { beside(core::as<const float, dynamic, output>(r.v), added, c); });
      if (c.tracing()) {
        auto alone = scratch.template matrix<dynamic, output>(x.rows(), output_size());
        products.out(core::as<const float, dynamic, mixed_width>(mixed), alone, nullptr, env, c);
        c.trace("attn_linear_out", alone);
      }
      // What is beside comes first: (product + beside) + addend, in the original's order.
      auto sum = to.rows == nullptr ? y : core::as<float, dynamic, output>(added);
      products.out(core::as<const float, dynamic, mixed_width>(mixed), sum, nullptr, env, c,
                   addend{added.data(), added.outerStride()});
      if (to.rows == nullptr) return;
      if (to.factor != 1) kernels::scale(core::read(sum), to.factor, core::write(sum));
      kernels::add(core::make_view(to.rows, x.rows(), output_size(), to.stride), core::read(sum), core::write(y),
                   c.run);
    }
  }

 private:
  // The values that the rows of x see, mixed; look(rows) sees the projections before they are gone.
  template <class Look>
  void mix(view<const float, dynamic, input> x, state* s, const auto& env, view<float> mixed, context& c,
           Look&& look) const {
    core::workspace::frame inner(c.scratch);
    attention_rows r = products.project(x, inner, c);
    score.prepare(r, heads(), products.key_head_count(), env, inner, c);
    const kernels::attention_options o{.scale = 1.0f / std::sqrt(static_cast<float>(head_width())),
                                       .rounds = kernels::rounds_beside(products.weight_format()),
                                       .key_heads = products.key_head_count()};
    if constexpr (requires { env.sequences; })
      attend_sequences(r, s, env.sequences, o, mixed, c);
    else if (s == nullptr || (keep_of(env) == 0 && s->cache.rows() == 0))
      score.attend(r.q, core::read(r.k), core::read(r.v), heads(), o, score_state(s), env, mixed, c);
    else
      attend_stream(r, *s, env, o, mixed, c);
    look(r);
  }
  static typename Score::state* score_state(state* s) noexcept { return s == nullptr ? nullptr : &s->score; }
  static kernels::attention_options over(const kv_cache& cache, kernels::attention_options o) noexcept {
    o.key_head_stride = cache.key_head_stride();
    o.value_head_stride = cache.value_head_stride();
    return o;
  }

  void attend_stream(attention_rows& r, state& s, const auto& env, const kernels::attention_options& o,
                     view<float> mixed, context& c) const {
    s.cache.append(core::read(r.k), core::read(r.v), products.key_head_count());
    score.attend(r.q, s.cache.keys(), s.cache.values(), heads(), over(s.cache, o), &s.score, env, mixed, c);
    s.cache.rewind(s.cache.rows() - again_of(env));
    s.cache.keep(keep_of(env));
  }

  // Each row sees what came before it in its own sequence, and itself.
  void attend_sequences(attention_rows& r, state* s, const kv_sequences& all, const kernels::attention_options& o,
                        view<float> mixed, context& c) const {
    if (s == nullptr) {  // nothing came before, and nothing will follow
      all.each_part([&](const kv_sequences::part& p) {
        kernels::causal_attention(core::read(r.q.middleRows(p.first, p.count)),
                                  core::read(r.k.middleRows(p.first, p.count)),
                                  core::read(r.v.middleRows(p.first, p.count)), heads(), o.key_heads, o.scale,
                                  core::write(mixed.middleRows(p.first, p.count)), c);
      });
      return;
    }
    if (s->cache.rows() < all.before())
      fail({.what = "rows of a cache",
            .expected = std::to_string(all.before()),
            .found = std::to_string(s->cache.rows()),
            .hint = "after a call that failed, sequences begin anew"});
    s->cache.rewind(all.before());
    s->cache.append(core::read(r.k), core::read(r.v), o.key_heads, all.format);
    all.each_part([&](const kv_sequences::part& p) {
      if (p.count > 0)
        attend_part(core::read(r.q.middleRows(p.first, p.count)), s->cache, p, o,
                    core::write(mixed.middleRows(p.first, p.count)), c);
    });
  }
  void attend_part(const view<const float>& q, const kv_cache& cache, const kv_sequences::part& p,
                   kernels::attention_options o, view<float> mixed, context& c) const {
    const auto count = static_cast<extent>(p.rows.size()), first = p.rows.front();
    const bool listed = !p.in_a_row();
    if (cache.format() != dtype::f32) {
      kernels::cached_rows rows = listed ? cache.stored() : cache.stored(first);
      rows.rows = count;
      if (listed) rows.list = p.rows.data();
      return kernels::attention(q, rows, heads(), o.scale, p.position(0), mixed, c);
    }
    o = over(cache, o);
    o.causal = true;
    o.causal_offset = p.position(0);
    if (listed) {
      o.key_rows = p.rows.data();
      o.key_count = count;
      kernels::attention(q, cache.keys(), cache.values(), heads(), o, mixed, c);
    } else {
      kernels::attention(q, core::read(cache.keys().middleRows(first, count)),
                         core::read(cache.values().middleRows(first, count)), heads(), o, mixed, c);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
