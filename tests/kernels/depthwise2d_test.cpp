// The strided depthwise convolution against its formula, for both paddings, any number of channels and parts of a
// plane.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/depthwise2d.hpp>

#include "kernels/each_isa.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace depthwise2d_test {

using namespace steno;

// Nine products are added to a bias of the same size: 1e-5 is a hundred times their rounding.
TEST(depthwise2d, formula) {
  for (const extent channels : {1, 16, 19})
    for (const extent left : {1, 2}) {
      const extent frames = 7, bands = 6, out_bands = (bands + left + 1 - 3) / 2 + 1,
                   rows = (frames + left + 1 - 3) / 2 + 1;
      std::vector<float> x(static_cast<std::size_t>(frames * bands * channels)),
          taps(static_cast<std::size_t>(9 * channels)), bias(static_cast<std::size_t>(channels));
      int n = 0;
      for (auto* v : {&x, &taps, &bias})
        for (float& e : *v) e = static_cast<float>((n++ * 37) % 23 - 11) / 11.0f;
      // Frames 2 .. 6 only: what lies outside counts as zeros.
      const kernels::plane part{x.data() + 2 * bands * channels, 2, frames, bands, channels};
      std::vector<float> y(static_cast<std::size_t>((rows - 1) * out_bands * channels));
      kernels::depthwise2d(part, left, taps.data(), bias.data(), 1, rows, out_bands, y.data(), {});
      for (extent t = 1; t < rows; ++t)
        for (extent f = 0; f < out_bands; ++f)
          for (extent c = 0; c < channels; ++c) {
            double want = static_cast<double>(bias[static_cast<std::size_t>(c)]);
            for (extent i = 0; i < 3; ++i)
              for (extent j = 0; j < 3; ++j) {
                const extent a = 2 * t + i - left, b = 2 * f + j - left;
                if (a < 2 || a >= frames || b < 0 || b >= bands) continue;
                want += static_cast<double>(taps[static_cast<std::size_t>((3 * i + j) * channels + c)]) *
                        static_cast<double>(x[static_cast<std::size_t>((a * bands + b) * channels + c)]);
              }
            EXPECT_NEAR(static_cast<double>(y[static_cast<std::size_t>(((t - 1) * out_bands + f) * channels + c)]),
                        want, 1e-5);
          }
    }
}

}  // namespace depthwise2d_test
