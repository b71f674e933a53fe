// Blocks of a call against the masks they stand for: every query and key of small sizes.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/attention_window.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace attention_window_test {

using namespace steno;

// Whether query i (of the last of `keys` frames) sees key j, as the originals' masks say.
bool sees(const nn::attention_window& w, extent before, extent i, extent j, extent keys) {
  if (w.chunk > 0) {
    const extent mine = i / w.chunk;
    if (w.left < 0 && (w.back >= 0 || w.right > 0))
      return j < std::min(keys, before + (mine + 1) * w.chunk + w.right) &&
             (w.back < 0 || j >= before + mine * w.chunk - w.back);
    if (j < before) return w.left < 0 || j >= before + (mine - w.left) * w.chunk;
    const extent theirs = (j - before) / w.chunk;
    return theirs <= mine && (w.left < 0 || theirs >= mine - w.left);
  }
  const extent at = before + i;
  if (!w.limited() && w.split > 0 && w.split < keys) return j < w.split || at >= w.split - 1;
  return j < keys && (w.back < 0 || j >= at - w.back) && (w.ahead < 0 || j <= at + w.ahead);
}
TEST(attention_window, blocks_hold_what_the_mask_shows) {
  const nn::attention_window windows[] = {{},
                                          {.chunk = 2},
                                          {.chunk = 3, .left = 1},
                                          {.chunk = 2, .left = 0},
                                          {.chunk = 3, .back = 4, .right = 2},
                                          {.chunk = 1, .back = 2, .right = 0},
                                          {.chunk = 2, .right = 3},
                                          {.chunk = 4, .back = 0, .right = 1},
                                          {.back = 2, .ahead = 1},
                                          {.back = 3},
                                          {.ahead = 2},
                                          {.back = 0, .ahead = 0},
                                          {.split = 1},
                                          {.split = 2},
                                          {.split = 7},
                                          {.split = 11},
                                          {.split = 20}};
  for (const nn::attention_window& w : windows)
    for (const extent before : {0, 3})
      for (const extent max_queries : {1, 4, 100}) {
        const extent queries = 11, keys = before + queries;
        std::set<std::pair<extent, extent>> ours, theirs;
        extent next = 0;
        nn::each_attention_block(queries, keys, w, max_queries, [&](const nn::attention_block& b) {
          EXPECT_EQ(b.first, next);
          EXPECT_LE(b.count, max_queries);
          next = b.first + b.count;
          const auto& l = b.limits;
          for (extent i = 0; i < b.count; ++i)
            for (extent j = 0; j < b.to - b.from; ++j)
              if (!l.causal || (j <= i + l.causal_offset && (l.window == 0 || j > i + l.causal_offset - l.window)))
                ours.insert({b.first + i, b.from + j});
        });
        EXPECT_EQ(next, queries);
        for (extent i = 0; i < queries; ++i)
          for (extent j = 0; j < keys; ++j)
            if (sees(w, before, i, j, keys)) theirs.insert({i, j});
        EXPECT_EQ(ours, theirs) << w.chunk << " " << w.left << " " << w.back << " " << w.ahead << " " << before;
      }
}

}  // namespace attention_window_test
