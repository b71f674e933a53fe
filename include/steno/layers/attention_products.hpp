// steno/layers/attention_products.hpp - the projections of attention, by name and fusion.
//
//   separate_products   q = query(x), k = key(x), v = value(x)      usual; the names are arguments
//   fused_products      q, k, v = split(linear_q_k_v(x))            FunASR's SAN-M
//   grouped_products    q, k, v of fewer heads than q's, q and k normed head by head                      Qwen3
//   encoder_products    q = linear_q(x);  k, v = split(linear_k_v(encoded))                               FunASR's
//   decoder
//
// Each has the product behind attention, `out`, too. What attention does with them is layers/attention.hpp and
// layers/cross_attention.hpp. Tested on golden stages (tests/parity).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/fixed_string.hpp>
#include <steno/kernels/precision.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/rms_norm.hpp>

#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Projections of the rows of a call: q [rows, heads * width], k and v [rows, key heads * width]; columns of one matrix
/// perhaps.
struct attention_rows {
  view<float> q;  ///< queries, [rows, heads * width]
  view<float> k;  ///< keys, [rows, key heads * width]
  view<float> v;  ///< values, [rows, key heads * width]
};

/// What a checkpoint calls the four products, and which have a bias.
template <core::fixed_string Query, core::fixed_string Key, core::fixed_string Value, core::fixed_string Out,
          bias B = bias::added, bias KeyBias = B, core::fixed_string Heads = "attention_heads">
struct attention_names {
  static constexpr std::string_view query = Query.view();  ///< of the product that makes queries
  static constexpr std::string_view key = Key.view();      ///< of the product that makes keys
  static constexpr std::string_view value = Value.view();  ///< of the product that makes values
  static constexpr std::string_view out = Out.view();      ///< of the product behind the attention
  static constexpr std::string_view heads = Heads.view();  ///< of the setting that counts heads
  static constexpr bias biases = B;                        ///< whether all products but the key's have one
  static constexpr bias key_bias = KeyBias;                ///< whether the key's product has one
};
/// WeNet's, and those of FunASR's plain attention.
using linear_names = attention_names<"linear_q", "linear_k", "linear_v", "linear_out">;

namespace detail {
template <extent D, extent Heads>
inline constexpr bool heads_divide = !core::is_static(D) || !core::is_static(Heads) || D % Heads == 0;

STENO_COLD inline std::string multiple_of(std::string_view name, extent n) {
  return std::string("a multiple of ").append(name).append(" (").append(std::to_string(n)).append(")");
}
}  // namespace detail

/// A product for each of q, k and v, all as wide as the rows. Serves self-attention and cross-attention.
template <extent D, extent Heads, class Names>
struct separate_products {
  static_assert(detail::heads_divide<D, Heads>, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  static constexpr extent mixed = D;  ///< columns of the mixed values

  core::setting<Heads> heads;         ///< how many heads the D columns make
  linear<D, D, Names::biases> query;  ///< q = query(x)
  linear<D, D, Names::biases> value;  ///< v = value(x)
  linear<D, D, Names::biases> out;    ///< of the mixed values
  linear<D, D, Names::key_bias> key;  ///< k = key(x)

  void members(auto&& v) {
    v(Names::heads, heads);
    v(Names::query, query);
    v(Names::key, key);
    v(Names::value, value);
    v(Names::out, out);
    const extent d = out.output_size();
    for (const extent n : {query.input_size(), query.output_size(), key.input_size(), key.output_size(),
                           value.input_size(), value.output_size(), out.input_size()})
      v.equal("widths of the attention's products", n, d);
    v.require(d % heads.get() == 0, "width", detail::multiple_of(Names::heads, heads.get()), d);
  }
  extent input_size() const noexcept { return query.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  /// Columns of the mixed values: `mixed`, or what the file has where that is dynamic.
  extent mixed_size() const noexcept { return out.input_size(); }
  /// Heads of the queries.
  extent head_count() const noexcept { return heads.get(); }
  /// Heads of keys and values: as many.
  extent key_head_count() const noexcept { return heads.get(); }
  /// Columns of one head.
  extent head_width() const noexcept { return output_size() / heads.get(); }
  /// Number format of the weights that x is multiplied by.
  dtype weight_format() const noexcept { return query.w.format; }
  /// The format that rows are prepared for which key_value() reads.
  dtype encoded_format() const noexcept { return key.w.format; }

  /// Projections of x [rows, D], in `frame`, which must outlive them.
  attention_rows project(view<const float, dynamic, D> x, core::workspace::frame& frame, context& c) const {
    auto q = frame.template matrix<dynamic, D>(x.rows(), output_size());
    auto k = frame.template matrix<dynamic, D>(x.rows(), output_size());
    auto v = frame.template matrix<dynamic, D>(x.rows(), output_size());
    {
      core::workspace::frame prepared(c.scratch);
      const kernels::operand o = kernels::prepare(core::read(x), query.w.format, prepared, c.run);
      query.multiply(o, q, c);
      key.multiply(o, k, c);
      value.multiply(o, v, c);
    }
    c.trace("q", q);
    c.trace("k", k);
    c.trace("v", v);
    return {core::write(q), core::write(k), core::write(v)};
  }
  /// Of cross-attention: queries of x [rows, D], in `frame`.
  /// Of cross-attention: queries of x, and keys and values of the encoder's rows; the `q` of the latter is empty.
  view<float> queries(view<const float, dynamic, D> x, core::workspace::frame& frame, context& c) const {
    auto q = frame.template matrix<dynamic, D>(x.rows(), output_size());
    query.multiply(x, q, c);
    return core::write(q);
  }
  /// Of cross-attention: keys and values of the encoder's rows, in `frame`; the `q` of the result is empty. `encoded`
  /// is prepared for encoded_format().
  attention_rows keys_and_values(const kernels::operand& encoded, core::workspace::frame& frame, context& c) const {
    auto k = frame.template matrix<dynamic, D>(encoded.rows, output_size());
    auto v = frame.template matrix<dynamic, D>(encoded.rows, output_size());
    key.multiply(encoded, k, c);
    value.multiply(encoded, v, c);
    c.trace("key", k);
    c.trace("value", v);
    return {core::make_view(k.data(), 0, 0), core::write(k), core::write(v)};
  }
};

/// One product for all three. Widths of rows in and out may differ.
template <extent In, extent D, extent Heads>
struct fused_products {
  static_assert(detail::heads_divide<D, Heads>, "steno: the heads must divide the width");
  static constexpr extent input = In, output = D;
  static constexpr extent mixed = D;  ///< columns of the mixed values

  core::setting<Heads> heads;                  ///< how many heads the D columns make
  linear<In, core::times(3, D)> linear_q_k_v;  ///< [q, k, v] = linear_q_k_v(x)
  linear<D, D> out;                            ///< of the mixed values

  void members(auto&& v) {
    v("attention_heads", heads);
    v("linear_q_k_v", linear_q_k_v);
    v("linear_out", out);
    const extent d = out.output_size();
    v.equal("output of linear_q_k_v and three times linear_out", linear_q_k_v.output_size(), 3 * d);
    v.equal("input and output of linear_out", out.input_size(), d);
    v.require(d % heads.get() == 0, "width", detail::multiple_of("attention_heads", heads.get()), d);
  }
  extent input_size() const noexcept { return linear_q_k_v.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  /// Columns of the mixed values: `mixed`, or what the file has where that is dynamic.
  extent mixed_size() const noexcept { return out.input_size(); }
  /// Heads of the queries.
  extent head_count() const noexcept { return heads.get(); }
  /// Heads of keys and values: as many.
  extent key_head_count() const noexcept { return heads.get(); }
  /// Columns of one head.
  extent head_width() const noexcept { return output_size() / heads.get(); }
  /// Number format of the weights that x is multiplied by.
  dtype weight_format() const noexcept { return linear_q_k_v.w.format; }

  /// Projections of x [rows, In]: columns of one matrix in `frame`, which must outlive them.
  attention_rows project(view<const float, dynamic, In> x, core::workspace::frame& frame, context& c) const {
    const extent n = x.rows(), d = output_size();
    auto qkv = frame.template matrix<dynamic, core::times(3, D)>(n, 3 * d);
    linear_q_k_v.multiply(x, qkv, c);
    c.trace("qkv", qkv);
    const auto part = [&](extent i) { return core::make_view(qkv.data() + i * d, n, d, 3 * d); };
    return {part(0), part(1), part(2)};
  }
};

/// Heads / KeyHeads heads of q share a head of k and v; each head of q and k is normed by itself.
template <extent D, extent Heads, extent KeyHeads, extent Width>
struct grouped_products {
  static constexpr extent input = D, output = D;
  static constexpr extent mixed = core::times(Heads, Width);    ///< columns of q and of the mixed values
  static constexpr extent keys = core::times(KeyHeads, Width);  ///< columns of k and of v

  linear<D, mixed, bias::none> q_proj;  ///< q, before its norm
  linear<D, keys, bias::none> k_proj;   ///< k, before its norm
  linear<D, keys, bias::none> v_proj;   ///< v
  linear<mixed, D, bias::none> out;     ///< of the mixed values: `o_proj`
  rms_norm<Width> q_norm;               ///< of each head of q; its length is the width of a head
  rms_norm<Width> k_norm;               ///< of each head of k

  void members(auto&& v) {
    v("q_proj", q_proj);
    v("k_proj", k_proj);
    v("v_proj", v_proj);
    v("o_proj", out);
    v("q_norm", q_norm);
    v("k_norm", k_norm);
    const extent wide = head_width() > 0 ? head_width() : 1;
    v.equal("widths of q_norm and k_norm", head_width(), k_norm.input_size());
    const std::string heads = detail::multiple_of("the length of q_norm", wide);
    v.require(q_proj.output_size() % wide == 0, "output of q_proj", heads, q_proj.output_size());
    v.require(k_proj.output_size() % wide == 0, "output of k_proj", heads, k_proj.output_size());
    v.equal("outputs of k_proj and v_proj", k_proj.output_size(), v_proj.output_size());
    v.equal("output of q_proj and input of o_proj", q_proj.output_size(), out.input_size());
    for (const extent n : {q_proj.input_size(), k_proj.input_size(), v_proj.input_size()})
      v.equal("widths of the attention's products", n, out.output_size());
    const extent groups = key_head_count();
    v.require(groups > 0 && head_count() % groups == 0, "heads of q", detail::multiple_of("the heads of k", groups),
              head_count());
  }
  extent input_size() const noexcept { return q_proj.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  /// Columns of the mixed values: `mixed`, or what the file has where that is dynamic.
  extent mixed_size() const noexcept { return out.input_size(); }
  /// Columns of one head.
  extent head_width() const noexcept { return q_norm.input_size(); }
  /// Heads of q.
  extent head_count() const noexcept { return head_width() > 0 ? q_proj.output_size() / head_width() : 0; }
  /// Heads of k and v, which divide those of q.
  extent key_head_count() const noexcept { return head_width() > 0 ? k_proj.output_size() / head_width() : 0; }
  /// Number format of the weights that x is multiplied by.
  dtype weight_format() const noexcept { return q_proj.w.format; }

  /// Projections of x [rows, D] with q and k normed, in `frame`, which must outlive them.
  attention_rows project(view<const float, dynamic, D> x, core::workspace::frame& frame, context& c) const {
    const extent n = x.rows(), w = head_width();
    auto q = frame.template matrix<dynamic, mixed>(n, q_proj.output_size());
    auto k = frame.template matrix<dynamic, keys>(n, k_proj.output_size());
    auto v = frame.template matrix<dynamic, keys>(n, k_proj.output_size());
    {
      core::workspace::frame prepared(c.scratch);
      const kernels::operand o = kernels::prepare(core::read(x), q_proj.w.format, prepared, c.run);
      q_proj.multiply(o, q, c);
      k_proj.multiply(o, k, c);
      v_proj.multiply(o, v, c);
    }
    auto q_heads = core::make_view<dynamic, Width>(q.data(), n * head_count(), w);
    auto k_heads = core::make_view<dynamic, Width>(k.data(), n * key_head_count(), w);
    q_norm(core::as<const float, dynamic, Width>(q_heads), q_heads, nullptr, no_env{}, c);
    k_norm(core::as<const float, dynamic, Width>(k_heads), k_heads, nullptr, no_env{}, c);
    return {core::write(q), core::write(k), core::write(v)};
  }
};

/// Cross-attention's, keys and values in one product.
template <extent D, extent Heads>
struct encoder_products {
  static_assert(detail::heads_divide<D, Heads>, "steno: the heads must divide the width");
  static constexpr extent input = D, output = D;
  static constexpr extent mixed = D;  ///< columns of the mixed values

  core::setting<Heads> heads;               ///< how many heads the D columns make
  linear<D, D> linear_q;                    ///< q = linear_q(x)
  linear<D, core::times(2, D)> linear_k_v;  ///< [k, v] = linear_k_v(encoded)
  linear<D, D> out;                         ///< of the mixed values

  void members(auto&& v) {
    v("attention_heads", heads);
    v("linear_q", linear_q);
    v("linear_k_v", linear_k_v);
    v("linear_out", out);
    const extent d = linear_q.output_size();
    v.equal("output of linear_k_v and twice linear_q", linear_k_v.output_size(), 2 * d);
    for (const extent n : {linear_q.input_size(), linear_k_v.input_size(), out.input_size(), out.output_size()})
      v.equal("widths of the attention's products", n, d);
    v.require(d % heads.get() == 0, "width", detail::multiple_of("attention_heads", heads.get()), d);
  }
  extent input_size() const noexcept { return linear_q.input_size(); }
  extent output_size() const noexcept { return out.output_size(); }
  /// Columns of the mixed values: `mixed`, or what the file has where that is dynamic.
  extent mixed_size() const noexcept { return out.input_size(); }
  /// Heads of queries, keys and values.
  extent head_count() const noexcept { return heads.get(); }
  /// Columns of one head.
  extent head_width() const noexcept { return output_size() / heads.get(); }
  /// Number format of the weights that x is multiplied by.
  dtype weight_format() const noexcept { return linear_q.w.format; }
  /// Number format of the weights that the encoder's rows are multiplied by.
  dtype encoded_format() const noexcept { return linear_k_v.w.format; }

  /// Queries of x [rows, D], in `frame`, which must outlive them.
  view<float> queries(view<const float, dynamic, D> x, core::workspace::frame& frame, context& c) const {
    auto q = frame.template matrix<dynamic, D>(x.rows(), output_size());
    linear_q.multiply(x, q, c);
    c.trace("cross_q", q);
    return core::write(q);
  }
  /// Keys and values of the encoder's rows, columns of one matrix in `frame`; the `q` of the result is empty. `encoded`
  /// is prepared for encoded_format().
  attention_rows keys_and_values(const kernels::operand& encoded, core::workspace::frame& frame, context& c) const {
    const extent n = encoded.rows, d = output_size();
    auto kv = frame.template matrix<dynamic, core::times(2, D)>(n, 2 * d);
    linear_k_v.multiply(encoded, kv, c);
    c.trace("cross_kv", kv);
    return {core::make_view(kv.data(), 0, 0), core::make_view(kv.data(), n, d, 2 * d),
            core::make_view(kv.data() + d, n, d, 2 * d)};
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
