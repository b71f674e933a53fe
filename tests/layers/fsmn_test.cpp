#include <steno/layers/fsmn.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

using namespace steno;

TEST(fsmn, is_a_depthwise_convolution_with_zeros_outside) {
  fsmn<5, 3> layer;
  storage keep;
  randomise(layer, keep, 3);
  matrix<float, dynamic, 3> x(9, 3), y(9, 3);
  x.setRandom();
  context c;
  layer(x, y, c);
  for (extent t = 0; t < 9; ++t)
    for (extent i = 0; i < 3; ++i) {
      double want = 0;
      for (extent j = 0; j < 5; ++j)
        if (t + j - 2 >= 0 && t + j - 2 < 9)
          want += static_cast<double>(layer.taps.values()(j, i)) * static_cast<double>(x(t + j - 2, i));
      EXPECT_NEAR(y(t, i), want, 1e-6);  // five products below 1 in f32
    }
}
