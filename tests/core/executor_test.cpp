#include <steno/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

namespace executor_test {

using steno::executor;
using steno::extent;
using steno::thread_pool;

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

TEST(thread_pool, serves_two_callers) {
  thread_pool pool(2);
  std::atomic<long> sum{0};
  const auto work = [&] {
    for (int round = 0; round < 200; ++round) pool.run(10, [&](extent i, int) { sum += i; });
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(sum.load(), 2 * 200 * 45);
}

// Ends the process: 7 when the pool said what it lacks. Root has no limit of processes; a limit of memory keeps threads
// from getting their stacks.
[[noreturn]] void ask_for_too_many() {
  const ::rlimit memory = {::rlim_t{512} << 20, ::rlim_t{512} << 20}, processes = {1, 1};
  ::setrlimit(RLIMIT_AS, &memory);
  ::setrlimit(RLIMIT_NPROC, &processes);
  try {
    thread_pool pool(4000);
  } catch (const steno::error& e) {
    std::fputs(e.what(), stderr);
    ::_exit(7);
  } catch (...) {
    ::_exit(8);
  }
  ::_exit(9);
}
// A system that gives no more threads is an error of the constructor, not the end of the process.
TEST(thread_pool, says_when_threads_are_not_to_be_had) {
  EXPECT_EXIT(ask_for_too_many(), testing::ExitedWithCode(7), "threads: expected 4000, found ");
}

}  // namespace executor_test
