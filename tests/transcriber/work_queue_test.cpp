// The queue of recordings: bounded, in order, and what is withdrawn does not run.
// SPDX-License-Identifier: Apache-2.0
#include "work_queue.hpp"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace work_queue_test {

using steno::app::work_queue;

struct work final : work_queue::task {
  explicit work(std::vector<int>& l, int n, std::shared_future<void> go) : list(l), number(n), may(std::move(go)) {}
  void run() noexcept override {
    began.set_value();
    may.wait();
    list.push_back(cancelled() ? -number : number);
    ended.set_value();
  }
  std::vector<int>& list;
  const int number;
  std::shared_future<void> may;
  std::promise<void> began, ended;
};

TEST(work_queue, is_bounded_and_in_order) {
  std::vector<int> list;
  std::promise<void> go;
  const std::shared_future<void> may = go.get_future().share();
  work_queue q(2);
  EXPECT_TRUE(q.full());  // nobody works
  ASSERT_EQ(q.start(1), 1);
  std::vector<std::shared_ptr<work>> all;
  for (int i = 1; i <= 5; ++i) all.push_back(std::make_shared<work>(list, i, may));
  ASSERT_TRUE(q.offer(all[0]));
  all[0]->began.get_future().wait();
  EXPECT_TRUE(q.offer(all[1]));
  EXPECT_TRUE(q.offer(all[2]));
  EXPECT_TRUE(q.full());
  EXPECT_FALSE(q.offer(all[3]));
  q.withdraw(*all[1]);
  EXPECT_EQ(q.waiting(), 1u);
  EXPECT_EQ(q.running(), 1u);
  EXPECT_TRUE(q.offer(all[4]));
  q.withdraw(*all[0]);  // it runs: it is told
  go.set_value();
  all[4]->ended.get_future().wait();
  q.stop();
  EXPECT_EQ(list, (std::vector<int>{-1, 3, 5}));
  EXPECT_FALSE(q.offer(all[3]));
}

TEST(work_queue, clients_take_turns) {
  std::vector<int> list;
  std::promise<void> go;
  const std::shared_future<void> may = go.get_future().share();
  work_queue q(8);
  ASSERT_EQ(q.start(1), 1);
  std::vector<std::shared_ptr<work>> all;
  // The first works; then come two more of its client, two of another, and one of a third.
  const std::uint64_t clients[] = {1, 1, 1, 2, 2, 3};
  for (int i = 0; i < 6; ++i) {
    all.push_back(std::make_shared<work>(list, i, may));
    all.back()->client = clients[i];
    ASSERT_TRUE(q.offer(all.back()));
    if (i == 0) all[0]->began.get_future().wait();
  }
  go.set_value();
  for (std::size_t i = 1; i < 6; ++i) all[i]->ended.get_future().wait();
  q.stop();
  EXPECT_EQ(list, (std::vector<int>{0, 3, 5, 1, 4, 2}));
}

struct collector final : work_queue::task {
  collector(work_queue& q, std::vector<int>& l, std::shared_future<void> go) : desk(q), list(l), may(std::move(go)) {}
  void run() noexcept override {
    began.set_value();
    may.wait();
    for (const auto& t : desk.take_along([](const task& one) { return one.client != 9; }, 3)) {
      list.push_back(static_cast<const work&>(*t).number);
      along.push_back(t);
    }
    running = desk.running();
    ended.set_value();
  }
  work_queue& desk;
  std::vector<int>& list;
  std::shared_future<void> may;
  std::vector<std::weak_ptr<task>> along;
  std::size_t running = 0;
  std::promise<void> began, ended;
};

TEST(work_queue, a_task_takes_others_along_in_turn) {
  std::vector<int> list;
  std::promise<void> go;
  const std::shared_future<void> may = go.get_future().share();
  work_queue q(8);
  ASSERT_EQ(q.start(1), 1);
  const auto first = std::make_shared<collector>(q, list, may);
  ASSERT_TRUE(q.offer(first));
  first->began.get_future().wait();
  std::shared_ptr<work> last;
  const std::uint64_t clients[] = {9, 1, 1, 2, 3};
  for (int i = 1; i <= 5; ++i) {
    last = std::make_shared<work>(list, i, may);
    last->client = clients[i - 1];
    ASSERT_TRUE(q.offer(last));
  }
  last.reset();
  const auto closing = std::make_shared<work>(list, 6, may);
  closing->client = 9;
  ASSERT_TRUE(q.offer(closing));
  go.set_value();
  closing->ended.get_future().wait();
  EXPECT_EQ(first->running, 4u);
  for (const auto& t : first->along) EXPECT_TRUE(t.expired());
  q.stop();
  EXPECT_EQ(list, (std::vector<int>{2, 4, 5, 1, 3, 6}));  // three of three clients; then each by itself
  EXPECT_EQ(q.running(), 0u);
}

TEST(work_queue, an_end_cancels_all) {
  std::vector<int> list;
  std::promise<void> go;
  const std::shared_future<void> may = go.get_future().share();
  work_queue q(8);
  ASSERT_EQ(q.start(1), 1);
  std::vector<std::shared_ptr<work>> all;
  for (int i = 1; i <= 3; ++i) {
    all.push_back(std::make_shared<work>(list, i, may));
    ASSERT_TRUE(q.offer(all.back()));
  }
  all[0]->began.get_future().wait();
  std::thread end([&] { q.stop(); });
  while (!all[2]->cancelled()) std::this_thread::yield();
  go.set_value();
  end.join();
  EXPECT_EQ(list, std::vector<int>{-1});
}

}  // namespace work_queue_test
