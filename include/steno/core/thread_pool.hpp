// steno/core/thread_pool.hpp - a pool that the user owns; the calling thread works too.
//
// run(n, task) hands out indices one at a time; workers spin briefly between runs and then sleep. One run at a time: a
// second thread that calls run() waits for the first. Not std::atomic's wait(): without futexes (Windows), libstdc++ 12
// may sleep through its notification. Tested in tests/core/executor_test.cpp (also under TSan).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Threads that run the tiles of layers, for any number of contexts. Owned by the user, neither copied nor moved; must
/// outlive the executors that refer to it. Thread-safe: runs of several threads wait for each other.
class thread_pool {
 public:
  /// A pool of `threads` workers including the caller of run(); at least 1. Throws steno::error when the system gives
  /// fewer.
  STENO_COLD explicit thread_pool(int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {
    try {
      for (int w = 1; w < threads; ++w) workers_.emplace_back([this, w] { serve(w); });
    } catch (const std::system_error& e) {
      const std::size_t started = workers_.size() + 1;
      stop();
      fail({.what = "threads",
            .expected = std::to_string(threads),
            .found = std::to_string(started) + " (" + e.code().message() + ")",
            .hint = "use fewer, or raise the limit of processes"});
    } catch (...) {
      stop();
      throw;
    }
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  ~thread_pool() { stop(); }

  /// Number of workers, the caller of run() among them.
  int width() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Calls t(i, worker) once for each i in [0, n) and returns when all calls have returned. The task must not throw and
  /// must not call run() of the same pool.
  void run(extent n, core::task t) {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    if (workers_.empty() || n <= 1) {
      for (extent i = 0; i < n; ++i) t(i, 0);
      return;
    }
    job_ = &t;
    count_ = n;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1);
    work_.notify_all();
    drain(0);
    wait_until(busy_, done_, [](int left) { return left == 0; });
  }

 private:
  STENO_COLD void stop() noexcept {
    stop_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1);
    work_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  static constexpr int spins = 2000;  // about 20-50 us: longer than the gap between two layers

  // Where threads sleep until a word has changed. The word's change and the sleepers' count are ordered among all
  // threads: whoever changes the word sees the sleeper, or the sleeper sees the change.
  class event_count {
   public:
    template <class Awake>
    void await(Awake awake) {
      std::unique_lock<std::mutex> lock(mutex_);
      sleepers_.fetch_add(1);
      while (!awake()) changed_.wait(lock);
      sleepers_.fetch_sub(1);
    }
    void notify_all() noexcept {
      if (sleepers_.load() == 0) return;
      { const std::lock_guard<std::mutex> asleep_or_awake(mutex_); }
      changed_.notify_all();
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<int> sleepers_{0};
  };

  template <class T, class Done>
  static void wait_until(const std::atomic<T>& word, event_count& changes, Done done) {
    for (int i = 0; i < spins; ++i) {
      if (done(word.load(std::memory_order_acquire))) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    changes.await([&] { return done(word.load()); });
  }

  void drain(int worker) {
    for (extent i = next_.fetch_add(1, std::memory_order_relaxed); i < count_;
         i = next_.fetch_add(1, std::memory_order_relaxed))
      (*job_)(i, worker);
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      wait_until(generation_, work_, [&](std::uint64_t g) { return g != seen; });
      seen = generation_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_relaxed)) return;
      drain(worker);
      if (busy_.fetch_sub(1) == 1) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> busy_{0};
  std::atomic<extent> next_{0};
  std::atomic<bool> stop_{false};
  event_count work_, done_;
  const core::task* job_ = nullptr;
  extent count_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace STENO_ABI
}  // namespace steno
