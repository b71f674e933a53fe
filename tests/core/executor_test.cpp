// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

#include "support/threads.hpp"

namespace executor_test {

using steno::executor;
using steno::extent;
using steno::thread_pool;
using steno::test::has_threads;

TEST(executor, default_is_serial_and_in_order) {
  std::vector<extent> seen;
  executor e;
  e.run(5, [&](extent i, int worker) {
    EXPECT_EQ(worker, 0);
    seen.push_back(i);
  });
  EXPECT_EQ(seen, (std::vector<extent>{0, 1, 2, 3, 4}));
  EXPECT_EQ(e.width(), 1);
}

TEST(thread_pool, calls_each_index_once) {
  if (!has_threads) GTEST_SKIP() << "one thread";
  thread_pool pool(4);
  executor e(pool);
  EXPECT_EQ(e.width(), 4);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(round % 37));
    e.run(static_cast<extent>(hits.size()), [&](extent i, int worker) {
      EXPECT_TRUE(worker >= 0 && worker < 4);
      ++hits[static_cast<std::size_t>(i)];
    });
    for (const auto& h : hits) EXPECT_EQ(h.load(), 1);
  }
}

// More threads than processors are late for many runs, whose tiles the others do: none is lost or done twice, and no
// tile sees another run's work.
TEST(thread_pool, late_workers_do_no_harm) {
  if (!has_threads) GTEST_SKIP() << "one thread";
  thread_pool pool(16);
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> hits{0};
    const extent tiles = 2 + round % 5;
    pool.run(tiles, [&](extent i, int worker) {
      EXPECT_TRUE(i >= 0 && i < tiles && worker >= 0 && worker < 16);
      ++hits;
    });
    ASSERT_EQ(hits.load(), tiles);
  }
}

TEST(thread_pool, neighbours_are_one_worker_s) {
  if (!has_threads) GTEST_SKIP() << "one thread";
  for (const extent tiles : {4, 7, 8, 100}) {
    thread_pool pool(4);
    std::atomic<int> began{0};
    std::vector<int> first(4, -1);
    pool.run(tiles, [&](extent i, int worker) {
      int& mine = first[static_cast<std::size_t>(worker)];
      if (mine >= 0) return;
      mine = static_cast<int>(i);
      for (++began; began.load() < 4;) std::this_thread::yield();  // nobody has time for another's share
    });
    for (int w = 0; w < 4; ++w) EXPECT_EQ(first[static_cast<std::size_t>(w)], (tiles * w + 3) / 4) << tiles;
  }
}

TEST(thread_pool, serves_two_callers) {
  if (!has_threads) GTEST_SKIP() << "one thread";
  thread_pool pool(2);
  std::atomic<extent> sum{0};
  const auto work = [&] {
    for (int round = 0; round < 200; ++round) pool.run(10, [&](extent i, int) { sum += i; });
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(sum.load(), 2 * 200 * 45);
}

}  // namespace executor_test
