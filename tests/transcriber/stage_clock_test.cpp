// Where time went: by stage, by part, whatever the numbers of layers.
// SPDX-License-Identifier: Apache-2.0
#include "stage_clock.hpp"

#include <steno/core/context.hpp>

#include <gtest/gtest.h>

namespace stage_clock_test {

using steno::app::stage_clock;

TEST(stage_clock, time_since_the_last_mark_is_the_stages) {
  double now = 10;
  stage_clock clock([&] { return now; });
  EXPECT_TRUE(clock.lines().empty());
  steno::context c(steno::executor{}, clock.tracer());
  const steno::matrix<float, 1, 2> x = steno::matrix<float, 1, 2>::Zero();
  const auto show = [&](const char* name, double seconds) {
    now += seconds;
    c.trace(name, x);
  };
  show("fbank", 0.5);
  {
    const auto encoder = c.enter("encoder");
    for (const int i : {0, 1, 12}) {
      const auto layer = c.enter("layers", i);
      show("norm1", 0.25);
      show("attention", 1.0);
    }
  }
  now += 0.75;
  clock.mark("search and text");
  EXPECT_EQ(clock.lines(), (std::vector<std::string>{
                               "   share         ms    calls  part",
                               "  75.0 %   3750.000        6  encoder",
                               "  15.0 %    750.000        1  search and text",
                               "  10.0 %    500.000        1  fbank",
                               "   share         ms    calls  stage",
                               "  60.0 %   3000.000        3  encoder.layers.*.attention",
                               "  15.0 %    750.000        3  encoder.layers.*.norm1",
                               "  15.0 %    750.000        1  search and text",
                               "  10.0 %    500.000        1  fbank",
                           }));
  const auto few = clock.lines(1);
  EXPECT_EQ(few.back(), "  40.0 %   2000.000        5  3 more stages");
}

}  // namespace stage_clock_test
