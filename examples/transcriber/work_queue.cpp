// SPDX-License-Identifier: Apache-2.0
#include "work_queue.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace steno::app {

int work_queue::start(int threads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = false;
  try {
    threads_.reserve(static_cast<std::size_t>(threads));
    running_.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {  // those that can be had
  }
  return static_cast<int>(threads_.size());
}

void work_queue::stop() {
  std::deque<std::shared_ptr<task>> forgotten;
  std::vector<std::thread> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    for (const auto& t : waiting_) t->cancel();
    for (const taken& t : running_) t.it->cancel();
    forgotten.swap(waiting_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& t : threads) t.join();
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_ = 0;
}

// What an idle thread is about to take does not wait.
bool work_queue::full() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return threads_.empty() || waiting_.size() >= most_ + idle_;
}

bool work_queue::offer(std::shared_ptr<task> t) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || threads_.empty() || waiting_.size() >= most_ + idle_) return false;
    waiting_.push_back(std::move(t));
  }
  changed_.notify_one();
  return true;
}

void work_queue::withdraw(task& t) {
  std::shared_ptr<task> forgotten;
  const std::lock_guard<std::mutex> lock(mutex_);
  t.cancel();
  const auto at = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.get() == &t; });
  if (at == waiting_.end()) return;
  forgotten = std::move(*at);
  waiting_.erase(at);
}

std::size_t work_queue::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_.size();
}

std::size_t work_queue::running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return running_.size();
}

// Of those that are wanted: of the client that was served longest ago, or never; of several such the one that came
// first. Null where none is.
template <class Wanted>
std::shared_ptr<work_queue::task> work_queue::next(const Wanted& wanted) {
  const auto served = [this](const std::shared_ptr<task>& t) {
    const auto at = turns_.find(t->client);
    return at == turns_.end() ? 0 : at->second;
  };
  auto at = waiting_.end();
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one)
    if (wanted(**one) && (at == waiting_.end() || served(*one) < served(*at))) at = one;
  if (at == waiting_.end()) return nullptr;
  std::shared_ptr<task> mine = std::move(*at);
  waiting_.erase(at);
  try {
    turns_[mine->client] = ++turn_;
  } catch (const std::exception&) {  // without memory for its turn it counts as one who never came
  }
  std::erase_if(turns_, [&](const auto& one) {
    return one.first != mine->client &&
           std::none_of(waiting_.begin(), waiting_.end(), [&](const auto& t) { return t->client == one.first; }) &&
           std::none_of(running_.begin(), running_.end(), [&](const taken& t) { return t.it->client == one.first; });
  });
  return mine;
}

std::vector<std::shared_ptr<work_queue::task>> work_queue::take_along(const std::function<bool(const task&)>& wanted,
                                                                      std::size_t most) {
  std::vector<std::shared_ptr<task>> all;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return all;
  all.reserve(std::min(most, waiting_.size()));
  running_.reserve(running_.size() + threads_.size() + all.capacity());  // threads find room without asking for it
  while (all.size() < most) {
    std::shared_ptr<task> one = next(wanted);
    if (one == nullptr) break;
    running_.push_back({one, std::this_thread::get_id()});
    all.push_back(std::move(one));
  }
  return all;
}

void work_queue::work() {
  const std::thread::id self = std::this_thread::get_id();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (stopping_) return;
    std::shared_ptr<task> mine = next([](const task&) { return true; });
    running_.push_back({mine, self});  // there is room for each thread
    lock.unlock();
    mine->run();
    mine.reset();
    lock.lock();
    for (;;) {  // it, and what it took along
      const auto at = std::find_if(running_.begin(), running_.end(), [&](const taken& t) { return t.by == self; });
      if (at == running_.end()) break;
      std::shared_ptr<task> one = std::move(at->it);
      running_.erase(at);
      lock.unlock();
      one.reset();  // what it holds may ask the queue
      lock.lock();
    }
  }
}

}  // namespace steno::app
