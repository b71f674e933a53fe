// steno/layers/attention.hpp - self-attention of several heads, products of their own for queries, keys and values.
//
//   y = out(softmax(query(x) key(x)^T / sqrt(d_head)) value(x))
//
// `MultiHeadedAttention` of FunASR's adaptors, `MultiHeadAttention` of NeMo's transformer and of Whisper's encoder,
// Qwen's audio tower: they differ in the names of the four products and in the biases alone. There are no positions.
// What a row sees is the record's `window`; without one, everything. x [frames, D]; y may be x. Tested on golden stages
// (tests/parity).
#pragma once
#include <steno/core/fixed_string.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/layers/linear.hpp>

#include <cmath>

namespace steno::inline STENO_ABI {

/// What a checkpoint calls the four products, and whether keys have a bias.
template <fixed_string Query, fixed_string Key, fixed_string Value, fixed_string Out, bias KeyBias = bias::added>
struct attention_names {
  static constexpr std::string_view query = Query.view(), key = Key.view(), value = Value.view(), out = Out.view();
  static constexpr bias key_bias = KeyBias;
};

template <extent D, extent Heads, class Names>
struct attention {
  static_assert(!is_static(D) || !is_static(Heads) || D % Heads == 0, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  setting<Heads> heads;
  linear<D, D> query, value, out;
  linear<D, D, Names::key_bias> key;

  void members(auto&& v) {
    v("attention_heads", heads);
    v(Names::query, query);
    v(Names::key, key);
    v(Names::value, value);
    v(Names::out, out);
    const extent d = out.output_size();
    for (const extent n : {query.input_size(), query.output_size(), key.input_size(), key.output_size(),
                           value.input_size(), value.output_size(), out.input_size()})
      v.equal("widths of the attention's products", n, d);
    v.equal("width and attention_heads times a whole width of a head", d, d / heads.get() * heads.get());
  }
  extent input_size() const noexcept { return query.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  extent head_width() const noexcept { return output_size() / heads.get(); }
  float scale() const noexcept { return 1.0f / std::sqrt(static_cast<float>(head_width())); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto& env, context& c,
                  const addend& to = {}) const {
    const extent rows = x.rows(), d = output_size();
    workspace::frame scratch(c.scratch);
    auto mixed = scratch.template matrix<dynamic, D>(rows, d);
    {
      workspace::frame inner(c.scratch);
      auto q = inner.template matrix<dynamic, D>(rows, d), k = inner.template matrix<dynamic, D>(rows, d),
           v = inner.template matrix<dynamic, D>(rows, d);
      {
        workspace::frame prepared(c.scratch);
        const kernels::operand o = kernels::prepare(read(x), query.w.format, prepared, c.run);
        query.multiply(o, q, c);
        key.multiply(o, k, c);
        value.multiply(o, v, c);
      }
      c.trace("q", q);
      c.trace("k", k);
      c.trace("v", v);
      attend_in_window(read(q), read(k), read(v), heads.get(), {.scale = scale(), .rounds = query.quantised()},
                       window_of(env), write(mixed), c);
    }
    out(as<const float, dynamic, D>(mixed), y, nullptr, env, c, to);
  }
};

}  // namespace steno::inline STENO_ABI
