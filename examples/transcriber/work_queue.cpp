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
    for (const auto& t : running_) t->cancel();
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

// Of the client that was served longest ago, or never; of several such the one that came first.
std::shared_ptr<work_queue::task> work_queue::next() {
  const auto served = [this](const std::shared_ptr<task>& t) {
    const auto at = turns_.find(t->client);
    return at == turns_.end() ? 0 : at->second;
  };
  const auto at = std::min_element(waiting_.begin(), waiting_.end(),
                                   [&](const auto& a, const auto& b) { return served(a) < served(b); });
  std::shared_ptr<task> mine = std::move(*at);
  waiting_.erase(at);
  try {
    turns_[mine->client] = ++turn_;
  } catch (const std::exception&) {  // without memory for its turn it counts as one who never came
  }
  std::erase_if(turns_, [&](const auto& one) {
    const auto is = [&](const auto& t) { return t != nullptr && t->client == one.first; };
    return one.first != mine->client && std::none_of(waiting_.begin(), waiting_.end(), is) &&
           std::none_of(running_.begin(), running_.end(), is);
  });
  return mine;
}

void work_queue::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (stopping_) return;
    std::shared_ptr<task> mine = next();
    running_.push_back(mine);  // there is room for each thread
    lock.unlock();
    mine->run();
    lock.lock();
    std::erase(running_, mine);
    lock.unlock();
    mine.reset();  // what it holds may ask the queue
    lock.lock();
  }
}

}  // namespace steno::app
