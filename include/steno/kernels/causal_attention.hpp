// steno/kernels/causal_attention.hpp - self-attention of a written sequence: row i sees rows 0 .. i.
//
//   out[i][h] = sum_{j <= i} softmax_j(scale q[i][h] . k[j][h]) v[j][h]
//
// Two products for each head, with the scores of later rows taken out in between; sequences are short (a hypothesis),
// so the square of scores is small. WeNet `subsequent_mask` with `MultiHeadedAttention`. Tested in
// tests/kernels/causal_attention_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/kernels/softmax.hpp>

#include <algorithm>
#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// q [n, heads * d], k [n, key_heads * d], v [n, key_heads * dv], out [n, heads * dv]; head h of q reads head h /
/// (heads / key_heads) of k and v. Views may be column blocks of one matrix.
template <class = void>
void causal_attention(const view<const float>& q, const view<const float>& k, const view<const float>& v, extent heads,
                      extent key_heads, float scale, view<float> out, context& c) {
  const extent n = q.rows();
  if (n == 0 || heads == 0) return;
  const extent d = q.cols() / heads, dv = v.cols() / key_heads, sharing = heads / key_heads;
  core::workspace::frame scratch(c.scratch);
  auto keys = scratch.matrix(n, d), values = scratch.matrix(dv, n), scores = scratch.matrix(n, n);
  const auto as_weight = [](const view<float>& m) {
    return weights::weight_ref{
        .data = reinterpret_cast<const std::byte*>(m.data()), .rows = m.rows(), .cols = m.cols()};
  };
  for (extent h = 0; h < heads; ++h) {
    keys = k.middleCols(h / sharing * d, d);
    values = v.middleCols(h / sharing * dv, dv).transpose();
    matmul(core::read(q.middleCols(h * d, d)), as_weight(keys), {.scale = scale}, scores, c);
    for (extent i = 0; i + 1 < n; ++i)
      std::fill_n(scores.data() + i * n + i + 1, n - i - 1, -std::numeric_limits<float>::infinity());
    softmax(core::read(scores), scores, c.run);
    matmul(core::read(scores), as_weight(values), {}, core::write(out.middleCols(h * dv, dv)), c);
  }
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
