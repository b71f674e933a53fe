// Work that waits for a thread: so much of it and no more. Clients take turns, and the work of each is done in the
// order in which it came.
//
// Tested in tests/transcriber/work_queue_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace steno::app {

class work_queue {
 public:
  class task {
   public:
    virtual ~task() = default;
    virtual void run() noexcept = 0;
    /// Nobody waits for it any more: run() should come to an end. From any thread.
    void cancel() { cancelled_ = true; }
    bool cancelled() const { return cancelled_; }
    std::uint64_t client = 0;  ///< whose it is; set before it is offered

   private:
    std::atomic<bool> cancelled_{false};
  };

  /// At most `most` tasks wait, beside those that run.
  explicit work_queue(std::size_t most) : most_(most) {}
  ~work_queue() { stop(); }
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  /// Returns how many threads there are; fewer than `threads` where no more can be had.
  int start(int threads);
  /// Cancels all tasks, waits for those that run, and forgets the others.
  void stop();

  bool full() const;
  /// False when it is full, or has no threads. Throws std::bad_alloc.
  bool offer(std::shared_ptr<task> t);
  /// For a task's run(), on its thread: takes at most `most` of those that wait and are wanted, in their clients'
  /// turns, as if threads had begun with them. They count as running until that run() returns. Throws std::bad_alloc.
  std::vector<std::shared_ptr<task>> take_along(const std::function<bool(const task&)>& wanted, std::size_t most);
  /// Cancels it, and forgets it where it still waits.
  void withdraw(task& t);
  std::size_t waiting() const;
  std::size_t running() const;

 private:
  void work();
  struct taken {
    std::shared_ptr<task> it;
    std::thread::id by = {};
  };
  template <class Wanted>
  std::shared_ptr<task> next(const Wanted& wanted);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<task>> waiting_;
  std::vector<taken> running_;
  std::vector<std::thread> threads_;
  std::map<std::uint64_t, std::uint64_t> turns_;  // of clients that have work here: when each was served last
  std::uint64_t turn_ = 0;
  std::size_t idle_ = 0;  // threads
  bool stopping_ = false;
};

}  // namespace steno::app
