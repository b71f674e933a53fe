// Samples that are kept come back as they were, whatever their width, until they are dropped.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/sample_store.hpp>

#include <gtest/gtest.h>

namespace sample_store_test {

using namespace steno;

TEST(sample_store, samples_come_back) {
  constexpr extent n = 3 * pipelines::sample_store::block + 1000;
  std::vector<float> pcm(static_cast<std::size_t>(n));
  for (extent i = 0; i < n; ++i) {
    // The first block has 16 bits, the second more, the third some that are too loud.
    const float wide = i / pipelines::sample_store::block == 1 ? 0x1p-20f : 0.0f;
    pcm[static_cast<std::size_t>(i)] = static_cast<float>(i * 7919 % 65536 - 32768) * 0x1p-15f + wide;
  }
  pcm[static_cast<std::size_t>(2 * pipelines::sample_store::block + 5)] = 1.0f;
  pipelines::sample_store kept;
  for (std::size_t at = 0; at < pcm.size(); at += 999)
    kept.push(std::span(pcm).subspan(at, std::min<std::size_t>(999, pcm.size() - at)));
  EXPECT_EQ(kept.end(), n);
  std::vector<float> out;
  kept.read(0, n, out);
  EXPECT_EQ(out, pcm);
  kept.drop_before(pipelines::sample_store::block + 17);
  EXPECT_EQ(kept.begin(), pipelines::sample_store::block);
  kept.read(pipelines::sample_store::block + 17, n - 3, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), pcm.begin() + pipelines::sample_store::block + 17));
  EXPECT_EQ(out.size(), static_cast<std::size_t>(n - 3 - pipelines::sample_store::block - 17));
  kept.drop_before(kept.end());
  EXPECT_EQ(kept.end(), n);
  kept.read(n - 10, n, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), pcm.end() - 10));
}

}  // namespace sample_store_test
