// SPDX-License-Identifier: Apache-2.0
#include "live_source.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "signals.hpp"

namespace steno::app {
namespace {

using namespace std::chrono_literals;

// Of any number of channels at any rate: 64 MiB at most.
std::size_t samples_kept(const capture_device& from) {
  constexpr std::size_t most = std::size_t{1} << 24;
  const auto second = static_cast<std::size_t>(from.rate()) * static_cast<std::size_t>(from.channels());
  return std::max(second, std::min(second * live_source::longest, most));
}

std::string tenths(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

}  // namespace

live_source::live_source(std::unique_ptr<capture_device> from, std::function<void(const std::string&)> tell)
    : device_(std::move(from)), tell_(std::move(tell)), ring_(samples_kept(*device_)), thread_([this] { listen(); }) {}

live_source::~live_source() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void live_source::listen() {
  using clock = std::chrono::steady_clock;
  const auto channels = static_cast<std::size_t>(device_->channels());
  std::vector<float> block(static_cast<std::size_t>(device_->rate()) / 20 * channels);
  const auto began = clock::now();
  double heard = 0, missed = 0;  // seconds
  for (;;) {
    capture_device::piece p;
    try {
      p = device_->read(block);
    } catch (const std::exception& e) {
      p.gone = e.what();
    }
    heard += static_cast<double>(p.frames) / device_->rate();
    std::unique_lock lock(mutex_);
    if (p.overrun) {
      // A device does not say how much: it is the time in which nothing was heard.
      const double all = std::chrono::duration<double>(clock::now() - began).count();
      const double now = std::max(0.0, all - heard - missed);
      missed += now;
      lost_ += now;
      ++overruns_;
    }
    const std::size_t n = p.frames * channels;
    changed_.wait(lock, [&] { return stop_ || ring_.size() - count_ >= n; });
    const std::size_t begin = (first_ + count_) % ring_.size(), front = std::min(n, ring_.size() - begin);
    if (ring_.size() - count_ >= n) {
      std::copy_n(block.begin(), front, ring_.begin() + static_cast<std::ptrdiff_t>(begin));
      std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(front), n - front, ring_.begin());
      count_ += n;
    }
    ended_ = stop_ || !p.gone.empty();
    gone_ = std::move(p.gone);
    changed_.notify_all();
    if (ended_) return;
  }
}

std::size_t live_source::read(std::span<float> frames) {
  const auto channels = static_cast<std::size_t>(device_->channels());
  std::unique_lock lock(mutex_);
  while (count_ == 0 && !ended_) {
    changed_.wait_for(lock, 50ms);
    stop_ = stop_ || input_is_over();
  }
  // What waits was heard before the interruption; nothing more is.
  stop_ = stop_ || input_is_over();
  const std::size_t n = std::min(frames.size() / channels * channels, count_);
  const std::size_t front = std::min(n, ring_.size() - first_);
  std::copy_n(ring_.begin() + static_cast<std::ptrdiff_t>(first_), front, frames.begin());
  std::copy_n(ring_.begin(), n - front, frames.begin() + static_cast<std::ptrdiff_t>(front));
  first_ = (first_ + n) % ring_.size();
  count_ -= n;
  const bool tell = overruns_ > 0 && !std::exchange(told_, told_ || overruns_ > 0);
  if (n == 0) conclude();
  lock.unlock();
  changed_.notify_all();
  if (tell && tell_) tell_("sound was lost: it came faster than it was recognised");
  return n / channels;
}

// What the user should know at the end.
void live_source::conclude() {
  if (std::exchange(concluded_, true)) return;
  if (overruns_ > 0)
    warn_damaged(std::to_string(overruns_) + (overruns_ == 1 ? " time" : " times") + " sound was lost, about " +
                 tenths(lost_) + " in all: it came faster than it was recognised");
  if (!gone_.empty()) warn_damaged("ended by itself: " + gone_);
}

}  // namespace steno::app
