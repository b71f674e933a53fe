// Normalisation of a clip's features: by hand, for one row, and kept back while a stream goes on.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/feature_norm.hpp>
#include <steno/frontends/nemo_mel.hpp>

#include "support/refusal.hpp"

#include <gtest/gtest.h>

namespace feature_norm_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;
constexpr auto per_feature = frontends::normalisation::per_feature;
TEST(feature_norm, mean_zero_and_deviation_one_with_n_minus_1) {
  const frontends::feature_norm<> f(2, per_feature);
  table x(3, 2);
  x << 1, 10, 2, 10, 6, 10;
  context c;
  f(core::read(x), core::write(x), c);
  const double deviation = std::sqrt((4.0 + 1.0 + 9.0) / 2) + 1e-5;
  EXPECT_NEAR(x(0, 0), -2 / deviation, 1e-6);
  EXPECT_NEAR(x(1, 0), -1 / deviation, 1e-6);
  EXPECT_NEAR(x(2, 0), 3 / deviation, 1e-6);
  EXPECT_EQ(x.col(1).cwiseAbs().maxCoeff(), 0);
}

TEST(feature_norm, one_row_has_no_deviation) {
  const frontends::feature_norm<> f(2, per_feature);
  table x(1, 2);
  x << 3, -4;
  context c;
  f(core::read(x), core::write(x), c);
  EXPECT_EQ(x.cwiseAbs().maxCoeff(), 0);
}

TEST(feature_norm, a_stream_gives_everything_at_the_end_or_at_once_when_off) {
  table x = table::Random(7, 3), whole(7, 3), all(7, 3);
  context c;
  const frontends::feature_norm<> on(3, per_feature), off(3, frontends::normalisation::none);
  on(core::read(x), core::write(whole), c);
  auto s = on.start();
  EXPECT_EQ(on.ready(s, 4), 0);
  table none(0, 3);
  on.accept(s, core::read(x.topRows(4)), core::write(none), c);
  EXPECT_EQ(on.at_end(s, 3), 7);
  on.finish(s, core::read(x.bottomRows(3)), core::write(all), c);
  EXPECT_TRUE(all == whole);
  EXPECT_EQ(on.at_end(s, 0), 0);
  auto t = off.start();
  EXPECT_EQ(off.ready(t, 4), 4);
  table part(4, 3);
  off.accept(t, core::read(x.topRows(4)), core::write(part), c);
  EXPECT_TRUE(part == x.topRows(4));
}

TEST(feature_norm, all_features_have_one_mean_and_deviation) {
  const frontends::feature_norm<> f(2, frontends::normalisation::all_features);
  table x(2, 2);
  x << 1, 2, 3, 6;
  context c;
  f(core::read(x), core::write(x), c);
  const double deviation = std::sqrt((4.0 + 1.0 + 0.0 + 9.0) / 3) + 1e-5;
  EXPECT_NEAR(x(0, 0), -2 / deviation, 1e-6);
  EXPECT_NEAR(x(0, 1), -1 / deviation, 1e-6);
  EXPECT_NEAR(x(1, 0), 0, 1e-6);
  EXPECT_NEAR(x(1, 1), 3 / deviation, 1e-6);
  EXPECT_TRUE(f.whole_clip());
}

// Rows of a stream pass at once; nothing is added to the deviation.
TEST(feature_norm, fixed_means_and_deviations) {
  const frontends::feature_norm<> f(2, frontends::normalisation::fixed, {1, -1}, {2, 0.5f});
  table x(2, 2), y(2, 2);
  x << 1, 2, 3, 6;
  context c;
  auto s = f.start();
  ASSERT_EQ(f.ready(s, 2), 2);
  f.accept(s, core::read(x), core::write(y), c);
  EXPECT_EQ(y(0, 0), 0);
  EXPECT_EQ(y(0, 1), 6);
  EXPECT_EQ(y(1, 0), 1);
  EXPECT_EQ(y(1, 1), 14);
  EXPECT_NE(test::refusal([] {
              frontends::feature_norm<>(2, frontends::normalisation::fixed, {1}, {1, 1});
            }).find("expected 2 each, found 1, 2"),
            std::string::npos);
}

// Linked behind the filterbank, which gives rows while this one gives none.
TEST(feature_norm, as_the_last_part_of_a_front_end) {
  const frontends::frontend_chain<frontends::nemo_mel<>, frontends::feature_norm<>> f(
      frontends::nemo_mel<>(), frontends::feature_norm<>(80, per_feature));
  std::vector<float> pcm(3210);
  for (std::size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<float>(i * i % 101) / 101.0f;
  context c;
  table whole(f.rows(3210), 80), streamed(f.rows(3210), 80), none(0, 80);
  f(pcm, whole, c);
  auto s = f.start();
  f.accept(s, frontends::samples(pcm).first(1700), core::write(none), c);
  ASSERT_EQ(f.at_end(s, 1510), 20);
  f.finish(s, frontends::samples(pcm).subspan(1700), core::write(streamed), c);
  EXPECT_TRUE(whole == streamed);
}

}  // namespace feature_norm_test
