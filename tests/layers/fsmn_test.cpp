// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/fsmn.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

namespace fsmn_test {

using namespace steno;

TEST(fsmn, is_a_depthwise_convolution_with_zeros_outside) {
  nn::fsmn<5, 3> layer;
  weights::storage keep;
  weights::randomise(layer, keep, 3);
  matrix<float, dynamic, 3> x(9, 3), y(9, 3);
  x.setRandom();
  context c;
  nn::apply(layer, x, y, c);
  for (extent t = 0; t < 9; ++t)
    for (extent i = 0; i < 3; ++i) {
      double want = 0;
      for (extent j = 0; j < 5; ++j)
        if (t + j - 2 >= 0 && t + j - 2 < 9)
          want += static_cast<double>(layer.taps.values()(j, i)) * static_cast<double>(x(t + j - 2, i));
      EXPECT_NEAR(y(t, i), want, 1e-6);  // five products below 1 in f32
    }
}

// In a stream the last tap is the present row's: however the rows are cut, they are those of one call.
TEST(fsmn, a_stream_is_one_sided_and_goes_on) {
  nn::fsmn<5, 3, nn::fsmn_sides::left> layer;
  weights::storage keep;
  weights::randomise(layer, keep, 3);
  matrix<float, dynamic, 3> x(9, 3), whole(9, 3);
  x.setRandom();
  context c;
  nn::apply(layer, x, whole, c);
  auto state = layer.start();
  for (extent t = 0; t < 9;) {
    const extent n = std::min<extent>(t == 0 ? 1 : 3, 9 - t);
    const matrix<float, dynamic, 3> part = x.middleRows(t, n);
    matrix<float, dynamic, 3> y(n, 3);
    layer(part, y, &state, nn::no_env{}, c);
    EXPECT_EQ(y, whole.middleRows(t, n)) << t;
    t += n;
  }
  for (extent i = 0; i < 3; ++i)
    EXPECT_NEAR(whole(0, i), layer.taps.values()(4, i) * x(0, i), 1e-7);  // nothing but zeros before it
}

}  // namespace fsmn_test
