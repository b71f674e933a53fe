// After one pass a front end allocates nothing, offline and in a stream.
// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/wav_frontend.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/allocations.hpp"
#include "support/signal.hpp"

namespace allocation_test {

TEST(allocation, none_in_steady_state) {
  const steno::frontends::wav_frontend<> f;
  const std::vector<float> pcm = steno::test::chirp(48000);
  const steno::extent rows = f.rows(48000);
  std::vector<float> y(static_cast<std::size_t>(rows * f.width()));
  steno::context c;
  auto s = f.start();
  const auto pass = [&] {
    f(pcm, steno::core::make_view(y.data(), rows, f.width()), c);
    steno::extent at = 0;
    for (std::size_t i = 0; i < pcm.size(); i += 1600) {
      const steno::frontends::samples piece(pcm.data() + i, 1600);
      const steno::extent n = f.ready(s, 1600);
      f.accept(s, piece, steno::core::make_view(y.data() + at * f.width(), n, f.width()), c);
      at += n;
    }
    const steno::extent n = f.at_end(s, 0);
    f.finish(s, steno::frontends::samples(), steno::core::make_view(y.data() + at * f.width(), n, f.width()), c);
    return at + n;
  };
  EXPECT_EQ(pass(), rows);
  const steno::test::allocation_counter counted;
  pass();
  EXPECT_EQ(counted.so_far(), 0u);
}

}  // namespace allocation_test
