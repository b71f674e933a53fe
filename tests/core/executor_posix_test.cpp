// What only systems with limits of a process can show.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace executor_posix_test {

using steno::thread_pool;

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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer wants more memory than the limit leaves";
#endif
  EXPECT_EXIT(ask_for_too_many(), testing::ExitedWithCode(7), "threads: expected 4000, found ");
}

}  // namespace executor_posix_test
