// SPDX-License-Identifier: Apache-2.0
#include <steno/text/compression_ratio.hpp>

#include <gtest/gtest.h>

#include <string>

namespace compression_ratio_test {

// Python: len(t) / len(zlib.compress(t)).
TEST(compression_ratio, equals_zlib_of_python) {
  EXPECT_DOUBLE_EQ(steno::text::compression_ratio("Hello world"), 11.0 / 19);
  std::string again;
  for (int i = 0; i < 40; ++i) again += "again and ";
  EXPECT_DOUBLE_EQ(steno::text::compression_ratio(again), 400.0 / 23);
  EXPECT_EQ(steno::text::compression_ratio(""), 0);
}

}  // namespace compression_ratio_test
