// Limits of connections, in all and per peer.
// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <gtest/gtest.h>

namespace places_test {

using namespace steno::app;

peer v4(unsigned char last, unsigned char first = 192) {
  const std::array<unsigned char, 4> bytes{first, 0, 2, last};
  return peer(bytes);
}
peer v6(unsigned char network, unsigned char host) {
  std::array<unsigned char, 16> bytes{0x20, 0x01, 0x0d, 0xb8};
  bytes[7] = network;
  bytes[15] = host;
  return peer(bytes);
}

TEST(places, are_limited_in_all_and_per_peer) {
  places p(3, 2);
  EXPECT_EQ(p.enter(v4(1)), "");
  EXPECT_EQ(p.enter(v4(1)), "");
  EXPECT_EQ(p.enter(v4(1)), "all 2 connections of one address are taken");
  EXPECT_EQ(p.enter(v4(2)), "");
  EXPECT_EQ(p.enter(v4(3)), "all 3 connections are taken");
  EXPECT_EQ(p.taken(), 3);
  p.leave(v4(1));
  EXPECT_EQ(p.taken(), 2);
  EXPECT_EQ(p.enter(v4(1)), "");
}

TEST(places, by_default_no_other_machine_takes_more_than_a_quarter) {
  places p(8, 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(p.enter(v4(1)), "");
  EXPECT_NE(p.enter(v4(1)), "");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(p.enter(v4(1, 127)), "") << i;
  places one(1, 0);
  EXPECT_EQ(one.enter(v4(1)), "");
}

TEST(places, addresses_of_one_network_are_one_peer) {
  places p(9, 1);
  EXPECT_EQ(p.enter(v6(1, 1)), "");
  EXPECT_NE(p.enter(v6(1, 2)), "");
  EXPECT_EQ(p.enter(v6(2, 1)), "");
  const std::array<unsigned char, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  EXPECT_EQ(p.enter(peer(mapped)), "");
  EXPECT_NE(p.enter(v4(1)), "");
  const std::array<unsigned char, 16> own{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_TRUE(peer(own).loopback());
  EXPECT_FALSE(v6(0, 1).loopback());
}

}  // namespace places_test
