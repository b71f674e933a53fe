// Sound that a device gives while it is listened to: read on a thread of its own, so that none is lost while a model
// works.
//
// Tested in tests/transcriber/live_source_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sample_source.hpp"

namespace steno::app {

/// What gives sound at its own pace; used by one thread.
class capture_device {
 public:
  virtual ~capture_device() = default;
  capture_device() = default;
  capture_device(const capture_device&) = delete;
  capture_device& operator=(const capture_device&) = delete;

  virtual std::string name() const = 0;
  virtual int rate() const = 0;
  virtual int channels() const = 0;

  struct piece {
    std::size_t frames = 0;  ///< 0: none came in time
    bool overrun = false;    ///< sound before these was lost
    std::string gone = {};   ///< not empty: there will be no more, and why
  };
  /// Fills the front of `frames` with interleaved samples. Waits a tenth of a second at most.
  virtual piece read(std::span<float> frames) = 0;
};

/// Ends with an interruption, when all that was heard until then has been read, or with the device. Up to `longest`
/// seconds wait for their reader; a device is not read while there are more, and tells then what it lost.
class live_source final : public sample_source {
 public:
  static constexpr int longest = 30;
  /// `tell` is called by the reader's thread with what the user should know at once.
  explicit live_source(std::unique_ptr<capture_device> from, std::function<void(const std::string&)> tell = {});
  ~live_source() override;

  std::size_t read(std::span<float> frames) override;
  int rate() const override { return device_->rate(); }
  int channels() const override { return device_->channels(); }
  double seconds() const override { return -1; }
  bool ends_itself() const override { return true; }

 private:
  void listen();
  void conclude();

  std::unique_ptr<capture_device> device_;
  std::function<void(const std::string&)> tell_;
  std::vector<float> ring_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::size_t first_ = 0, count_ = 0;  // samples in the ring
  std::size_t overruns_ = 0;
  double lost_ = 0;  // seconds
  std::string gone_;
  bool stop_ = false, ended_ = false;
  bool told_ = false, concluded_ = false;
  std::thread thread_;
};

}  // namespace steno::app
