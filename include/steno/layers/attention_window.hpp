// steno/layers/attention_window.hpp - which keys a query sees, and how a call is cut into blocks that see the same
// ones.
//
// Chunks (WeNet `add_optional_chunk_mask`, NeMo `chunked_limited`): all queries of a chunk see the keys of their own
// and `left` earlier chunks; or, counted in frames, `back` before and `right` behind their chunk (NeMo
// `chunked_limited_with_rc`). Limits in frames (NeMo `regular` and `rel_pos_local_attn`): each query sees `back` frames
// before and `ahead` behind it. A border (FunASR `vad_mask`): rows of the first part do not see the second, but for the
// last of them. Otherwise everything is seen. Tested in tests/layers/attention_window_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/attention.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Full context is the default.
struct attention_window {
  extent chunk = 0;   ///< queries i n .. i n + n - 1 see the keys of their own and earlier chunks; 0: no chunks
  extent left = -1;   ///< earlier chunks seen, or rows kept in the cache in units of chunks; negative: all
  extent back = -1;   ///< frames before the query, or before its chunk where `left` is negative; negative: all
  extent ahead = -1;  ///< without chunks: frames behind the query that it sees; negative: all
  extent right = 0;   ///< with chunks: frames behind its chunk that a query sees
  extent split = 0;   ///< without either: queries before split - 1 see the keys before split alone; 0: all of them

  /// Whether there are limits in frames, which count without chunks only.
  bool limited() const noexcept { return chunk <= 0 && (back >= 0 || ahead >= 0); }
};

/// Queries first .. first + count - 1 and the keys from .. to - 1, which hold all that any of them sees.
struct attention_block {
  extent first;                       ///< the first query
  extent count;                       ///< queries of the block
  extent from;                        ///< the first key that is seen
  extent to;                          ///< behind the last one
  kernels::attention_options limits;  ///< inside the block, for kernels::attention on these rows

  /// `options` within these limits.
  kernels::attention_options limited(kernels::attention_options options) const noexcept {
    options.causal = limits.causal;
    options.causal_offset = limits.causal_offset;
    options.window = limits.window;
    return options;
  }
};

/// Calls f(attention_block) for queries that are the last of `keys` frames, up to `max_queries` queries at a time. A
/// chunk is not divided unless it is longer.
template <class F>
void each_attention_block(extent queries, extent keys, const attention_window& w, extent max_queries, F&& f) {
  const extent before = keys - queries;
  const bool chunks = w.chunk > 0;
  const extent ahead = w.ahead < 0 ? keys : w.ahead;
  for (extent t = 0; t < queries;) {
    const extent chunk_end = chunks ? std::min(queries, (t / w.chunk + 1) * w.chunk) : queries;
    const extent n = std::min(max_queries, chunk_end - t);
    attention_block b{.first = t, .count = n, .from = 0, .to = keys, .limits = {}};
    if (chunks) {
      const extent chunk_begin = before + t / w.chunk * w.chunk, back = w.left >= 0 ? w.left * w.chunk : w.back;
      if (back >= 0) b.from = std::max<extent>(0, chunk_begin - back);
      b.to = std::min(keys, before + chunk_end + w.right);
    } else if (w.limited()) {
      if (w.back >= 0) b.from = std::max<extent>(0, before + t - w.back);
      b.to = std::min(keys, before + t + n + ahead);
      b.limits.causal = true;
      b.limits.causal_offset = before + t - b.from + ahead;
      b.limits.window = w.back < 0 ? 0 : w.back + ahead + 1;
    } else if (w.split > 1 && w.split < keys && before + t < w.split - 1) {
      b.count = std::min(n, w.split - 1 - before - t);
      b.to = w.split;
    }
    f(b);
    t += b.count;
  }
}

/// The record's `window`; without one, everything is seen.
template <class Env>
attention_window window_of(const Env& env) noexcept {
  if constexpr (requires { env.window; })
    return env.window;
  else
    return {};
}

/// Rows that a stream keeps of what went by: the record's `keep`; without one, all.
template <class Env>
extent keep_of(const Env& env) noexcept {
  if constexpr (requires { env.keep; })
    return env.keep;
  else
    return -1;
}

/// Newest rows of a call that the next one brings again, so that they are not kept: the record's `again`, or none.
template <class Env>
extent again_of(const Env& env) noexcept {
  if constexpr (requires { env.again; })
    return env.again;
  else
    return 0;
}

/// Attention of queries over the keys their window shows them; `options` are those of every block but for its limits.
template <class = void>
void attend_in_window(const view<const float>& q, const view<const float>& k, const view<const float>& v, extent heads,
                      const kernels::attention_options& options, const attention_window& w, view<float> out,
                      context& c) {
  each_attention_block(q.rows(), k.rows(), w, w.limited() ? 128 : q.rows(), [&](const attention_block& b) {
    kernels::attention(core::read(q.middleRows(b.first, b.count)), core::read(k.middleRows(b.from, b.to - b.from)),
                       core::read(v.middleRows(b.from, b.to - b.from)), heads, b.limited(options),
                       core::write(out.middleRows(b.first, b.count)), c);
  });
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
