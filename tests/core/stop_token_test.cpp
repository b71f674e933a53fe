// The standard library's and steno's own do the same.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/stop_token.hpp>

#include <gtest/gtest.h>

namespace stop_token_test {

template <class T>
class stop : public testing::Test {};
using sources = testing::Types<steno::core::stop_source, steno::core::detail::simple_stop_source>;
TYPED_TEST_SUITE(stop, sources);

TYPED_TEST(stop, is_requested_once) {
  using stop_source = TypeParam;
  using stop_token = decltype(stop_source().get_token());
  const stop_token nobodys;
  EXPECT_FALSE(nobodys.stop_possible());
  EXPECT_FALSE(nobodys.stop_requested());
  stop_token outlives;
  {
    stop_source source;
    const stop_token one = source.get_token();
    outlives = one;
    EXPECT_TRUE(one.stop_possible());
    EXPECT_FALSE(one.stop_requested() || source.stop_requested());
    stop_source same = source;
    EXPECT_TRUE(same.request_stop());
    EXPECT_FALSE(source.request_stop()) << "the second time";
    EXPECT_TRUE(source.stop_requested());
    EXPECT_TRUE(one.stop_requested());
  }
  EXPECT_TRUE(outlives.stop_requested());
  EXPECT_FALSE(stop_source().get_token().stop_requested()) << "of another source";
}

}  // namespace stop_token_test
