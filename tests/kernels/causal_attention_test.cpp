// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/attention.hpp>
#include <steno/kernels/causal_attention.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

namespace causal_attention_test {

using namespace steno;

// Row by row over what came before is the definition. 2e-6: the sums run in another order, values are near 1.
TEST(causal_attention, each_row_sees_what_came_before) {
  test::random_numbers random(7);
  for (const extent n : {1, 2, 7, 40, 131}) {
    const extent heads = 3, d = 20;
    matrix<float, dynamic, dynamic> all(n, 3 * heads * d), out(n, heads * d), want(n, heads * d);
    random.fill(std::span(all.data(), static_cast<std::size_t>(all.size())));
    const view<const float> q = core::read(all.leftCols(heads * d)),
                            k = core::read(all.middleCols(heads * d, heads * d)),
                            v = core::read(all.rightCols(heads * d));
    context c;
    kernels::causal_attention(q, k, v, heads, heads, 0.4f, out, c);
    for (extent t = 0; t < n; ++t)
      kernels::attention(core::read(q.middleRows(t, 1)), core::read(k.topRows(t + 1)), core::read(v.topRows(t + 1)),
                         heads, 0.4f, core::write(want.middleRows(t, 1)), c);
    EXPECT_LE((out - want).cwiseAbs().maxCoeff(), 2e-6f) << n;
  }
}

}  // namespace causal_attention_test
