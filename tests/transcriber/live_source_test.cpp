// Sound that a device gives at its own pace.
// SPDX-License-Identifier: Apache-2.0
#include "live_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace live_source_test {

using steno::app::capture_device;
using steno::app::live_source;

// Counts: sample n is n, until `until`; then it is gone.
class counting final : public capture_device {
 public:
  explicit counting(std::size_t until, int channels = 2) : until_(until), channels_(channels) {}
  std::string name() const override { return "counting"; }
  int rate() const override { return 1000; }
  int channels() const override { return channels_; }
  piece read(std::span<float> frames) override {
    piece p;
    if (said_ >= until_) {
      p.gone = "No such device";
      return p;
    }
    const auto channels = static_cast<std::size_t>(channels_);
    p.frames = std::min(frames.size() / channels, (until_ - said_) / channels);
    for (std::size_t i = 0; i < p.frames * channels; ++i) frames[i] = static_cast<float>(said_++);
    p.overrun = lost.exchange(false);
    count = said_;
    return p;
  }
  std::atomic<bool> lost = false;
  std::atomic<std::size_t> count = 0;

 private:
  std::size_t until_, said_ = 0;
  int channels_;
};

TEST(live_source, gives_all_in_order_whatever_is_asked_for) {
  for (const std::size_t portion : {2u, 6u, 250u, 4096u}) {
    live_source source(std::make_unique<counting>(150000));
    std::vector<float> block(portion);
    float next = 0;
    for (std::size_t n = 0; (n = source.read(block)) > 0;)
      for (std::size_t i = 0; i < 2 * n; ++i) ASSERT_EQ(block[i], next++);
    EXPECT_EQ(next, 150000);
  }
}

TEST(live_source, tells_that_a_device_went_away) {
  live_source source(std::make_unique<counting>(100));
  std::vector<float> block(1000);
  while (source.read(block) > 0) EXPECT_FALSE(source.damaged());
  EXPECT_TRUE(source.damaged());
  ASSERT_EQ(source.warnings().size(), 1u);
  EXPECT_EQ(source.warnings()[0], "ended by itself: No such device");
  EXPECT_EQ(source.read(block), 0u);
  EXPECT_EQ(source.warnings().size(), 1u);
}

TEST(live_source, does_not_read_a_device_when_too_much_waits) {
  auto device = std::make_unique<counting>(1000000);
  counting& counts = *device;
  live_source source(std::move(device));
  const std::size_t most = 2 * 1000 * live_source::longest;
  for (int i = 0; i < 500 && counts.count < most; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LE(counts.count, most + 100);  // and the block in its hands
  std::vector<float> block(10000);
  EXPECT_EQ(source.read(block), 5000u);
}  // and ends while its thread waits

TEST(live_source, tells_what_was_lost) {
  auto device = std::make_unique<counting>(90000);
  device->lost = true;
  std::vector<std::string> told;
  live_source source(std::move(device), [&](const std::string& text) { told.push_back(text); });
  std::vector<float> block(10000);
  while (source.read(block) > 0) {
  }
  EXPECT_EQ(told.size(), 1u);
  ASSERT_EQ(source.warnings().size(), 2u);
  EXPECT_EQ(source.warnings()[0].rfind("1 time sound was lost, about ", 0), 0u) << source.warnings()[0];
  EXPECT_TRUE(source.damaged());
}

// What the operating system says is told, not thrown on a thread that nobody catches on.
TEST(live_source, a_failure_is_an_end) {
  class failing final : public capture_device {
   public:
    std::string name() const override { return "failing"; }
    int rate() const override { return 16000; }
    int channels() const override { return 1; }
    piece read(std::span<float>) override { throw std::runtime_error("burnt"); }
  };
  live_source source(std::make_unique<failing>());
  std::vector<float> block(16);
  EXPECT_EQ(source.read(block), 0u);
  EXPECT_EQ(source.warnings().at(0), "ended by itself: burnt");
}

}  // namespace live_source_test
