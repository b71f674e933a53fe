// Levels of frames: known signals, and the same bits however the samples are cut.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/frame_levels.hpp>

#include "support/signal.hpp"

#include <gtest/gtest.h>

namespace frame_levels_test {

using namespace steno;

std::vector<float> by_pieces(std::span<const float> pcm, std::size_t piece) {
  const frontends::frame_levels f;
  auto s = f.start();
  context c;
  std::vector<float> all;
  for (std::size_t at = 0; at < pcm.size(); at += piece) {
    const auto part = pcm.subspan(at, std::min(piece, pcm.size() - at));
    const extent rows = f.ready(s, static_cast<extent>(part.size()));
    const std::size_t old = all.size();
    all.resize(old + static_cast<std::size_t>(rows));
    f.accept(s, part, core::make_view(all.data() + old, rows, 1), c);
  }
  return all;
}
TEST(frame_levels, known_signals) {
  const auto loud = by_pieces(std::vector<float>(1600, 1.0f), 1600);
  ASSERT_EQ(loud.size(), 8u);
  for (const float v : loud) EXPECT_NEAR(v, 26.0206f, 1e-4f);  // 10 log10(400)
  for (const float v : by_pieces(std::vector<float>(1600), 1600)) EXPECT_NEAR(v, -60, 1e-4f);
  EXPECT_TRUE(by_pieces(std::vector<float>(399), 399).empty());
}

TEST(frame_levels, pieces_make_no_difference) {
  const auto pcm = test::chirp(5000, 3);
  const auto whole = by_pieces(pcm, pcm.size());
  for (const std::size_t piece : {1u, 159u, 160u, 161u, 400u, 777u}) {
    const auto some = by_pieces(pcm, piece);
    ASSERT_EQ(some.size(), whole.size());
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_FLOAT_EQ(some[i], whole[i]) << piece;  // doubles in between
  }
}

}  // namespace frame_levels_test
