// steno/core/thread_pool.hpp - a pool that the user owns; the calling thread works too.
//
// run(n, task) gives each worker a share of neighbouring indices, one at a time; who is done helps the next. It returns
// once all are done: a worker that wakes too late for that, as where a program has more threads than it may use
// processors, is not waited for. Workers look for the next run for a moment, in which others may have the processor,
// and then sleep. One run at a time: a second thread that calls run() waits for the first. Not std::atomic's wait():
// without futexes (Windows), libstdc++ 12 may sleep through its notification. Tested in tests/core/executor_test.cpp
// (also under TSan), measured by bench/kernels/thread_pool_bench.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/core/processors.hpp>
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
  /// A pool of `threads` workers including the caller of run(), at least 1; without a number, as many as there are
  /// processors for this process (core/processors.hpp). Throws steno::error when the system gives fewer.
  STENO_ON_CALL STENO_COLD explicit thread_pool(int threads = core::processors())
      : shares_(static_cast<std::size_t>(std::max(threads, 1))) {
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
    unfinished_.store(n, std::memory_order_relaxed);
    for (std::size_t w = 0; w < shares_.size(); ++w)
      shares_[w].left.store(begin_of(w + 1) - begin_of(w), std::memory_order_release);
    generation_.fetch_add(1);
    work_.notify_all();
    drain(0);
    wait_until(unfinished_, done_, [](extent tiles) { return tiles == 0; });
  }

 private:
  STENO_COLD void stop() noexcept {
    stop_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1);
    work_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  static constexpr int spins = 2000;   // about 20-50 us: longer than the gap between two layers
  static constexpr int patience = 64;  // of them, then others may have the processor, one of whom may hold a tile

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
      if (i % patience == patience - 1) std::this_thread::yield();
    }
    changes.await([&] { return done(word.load()); });
  }

  // The tiles that are worker w's before others help. They are neighbours: much of what a layer wrote for a row is then
  // still in the cache of the processor that reads it for the next.
  struct alignas(64) share {
    std::atomic<extent> left{0};  // tiles that nobody has taken
  };
  extent begin_of(std::size_t w) const {
    const auto workers = static_cast<extent>(shares_.size());
    return (count_ * static_cast<extent>(w) + workers - 1) / workers;
  }
  // Own tiles, then those of the next. A worker that is late finds none and goes: nobody waits for it. `job_` and
  // `count_` stay as they are until all tiles that were taken are counted in `unfinished_`.
  void drain(int worker) {
    extent done = 0;
    for (std::size_t i = 0, w = static_cast<std::size_t>(worker); i < shares_.size(); ++i, ++w) {
      if (w == shares_.size()) w = 0;
      std::atomic<extent>& left = shares_[w].left;
      if (left.load(std::memory_order_relaxed) <= 0) continue;
      for (extent n = left.fetch_sub(1, std::memory_order_acq_rel); n > 0;
           n = left.fetch_sub(1, std::memory_order_acq_rel)) {
        (*job_)(begin_of(w + 1) - n, worker);
        ++done;
      }
    }
    if (done > 0 && unfinished_.fetch_sub(done) == done) done_.notify_all();
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      wait_until(generation_, work_, [&](std::uint64_t g) { return g != seen; });
      seen = generation_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_relaxed)) return;
      drain(worker);
    }
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<extent> unfinished_{0};  // tiles that are not done
  std::vector<share> shares_;
  std::atomic<bool> stop_{false};
  event_count work_, done_;
  const core::task* job_ = nullptr;
  extent count_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace STENO_ABI
}  // namespace steno
