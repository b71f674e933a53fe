// The models of a server: loaded once, one at a time, whoever asks.
// SPDX-License-Identifier: Apache-2.0
#include "model_shelf.hpp"

#include <steno/error.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace model_shelf_test {
namespace {

using namespace steno::app;

const steno::transcriber& model() {
  static const steno::transcriber loaded((steno::test::compact() / "wenet" / "model.gguf").string());
  return loaded;
}
model_shelf::place placed() {
  return std::make_shared<const served_model>(model(), steno::session_options(), steno::pipelines::session_models(),
                                              steno::transcribe_options(), nullptr);
}

}  // namespace

TEST(model_shelf, each_is_loaded_once_and_one_at_a_time) {
  model_shelf shelf;
  std::atomic<int> loads{0}, at_once{0};
  const auto load = [&] {
    EXPECT_EQ(++at_once, 1);
    ++loads;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --at_once;
    return placed();
  };
  shelf.add("first", placed());
  shelf.add("a", load);
  shelf.add("b", load);
  EXPECT_EQ(shelf.usual(), "first");
  EXPECT_EQ(shelf.loaded(), 1u);
  EXPECT_EQ(shelf.ready("a"), nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { EXPECT_NE(shelf.get(i % 2 == 0 ? "a" : "b"), nullptr); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(shelf.loaded(), 3u);
  EXPECT_EQ(shelf.get("a"), shelf.ready("a"));
}

TEST(model_shelf, what_failed_is_tried_again_and_what_is_not_there_is_named) {
  model_shelf shelf;
  int tries = 0;
  shelf.add("late", [&]() -> model_shelf::place {
    if (++tries == 1) steno::fail({.what = "not yet"});
    return placed();
  });
  EXPECT_THROW((void)shelf.get("late"), steno::error);
  EXPECT_EQ(shelf.failure("late"), "not yet");
  EXPECT_NE(shelf.get("late"), nullptr);
  EXPECT_EQ(shelf.failure("late"), "");
  EXPECT_THROW((void)shelf.get("x\ny"), steno::error);
  EXPECT_EQ(shelf.unknown("x").find("the model \"x\" is not served here: there is late"), 0u);
  EXPECT_EQ(shelf.unknown("\n").find('\n'), std::string::npos);
}

}  // namespace model_shelf_test
