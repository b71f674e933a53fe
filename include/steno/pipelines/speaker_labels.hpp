// steno/pipelines/speaker_labels.hpp - who spoke, beside a recording that is recognised.
//
//   pipelines::speaker_labels who(diarizer);         // beside a recording
//   while (...) {
//     who.push(pcm, c);
//     recording.push(pcm, c, [&](segment s) { who.add(std::move(s)); });
//     who.forget(recording.needed_from());
//     who.take(sink);                                 // sink(segment): with speakers, by turns
//   }
//   who.close(c);  recording.finish(c, ...);  who.take(sink);
//
// A diarizer gets the samples that the recogniser gets, and speaker_attribution joins what both found. With an
// executor of its own the diarizer works on another thread at the same time; what comes out is the same. Tested in
// tests/pipelines/speaker_labels_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/speaker_attribution.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {

/// A diarization on a thread of its own. Samples wait in a queue of up to 30 s, so memory does not grow when the
/// diarizer is the slower one.
class diarization_beside {
 public:
  diarization_beside(diarization one, extent speakers, const executor& run)
      : one_(std::move(one)), speakers_(speakers), scratch_(run) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      fail({.what = "no thread for the speakers", .hint = "without an executor it works on the calling one"});
    }
  }
  diarization_beside(const diarization_beside&) = delete;
  diarization_beside& operator=(const diarization_beside&) = delete;
  ~diarization_beside() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  STENO_ON_CALL void push(std::span<const float> pcm) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_ < max_queued || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    queued_ += pcm.size();
    queue_.emplace_back(pcm.begin(), pcm.end());
    lock.unlock();
    changed_.notify_all();
  }
  /// No samples follow; returns when all are done.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    wait();
  }
  /// Until everything that was pushed is done.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return (idle_ && queue_.empty() && (!closed_ || ended_)) || failure_; });
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Rows since the last call: f(view).
  template <class F>
  void rows(F&& f) {
    std::vector<float> found;
    {
      const std::lock_guard lock(mutex_);
      found.swap(rows_);
    }
    if (!found.empty())
      f(core::make_view(static_cast<const float*>(found.data()), static_cast<extent>(found.size()) / speakers_,
                        speakers_));
  }

 private:
  static constexpr std::size_t max_queued = 30 * diarizer::sample_rate;

  void keep(const view<const float>& rows) {
    const std::lock_guard lock(mutex_);
    rows_.insert(rows_.end(), rows.data(), rows.data() + rows.size());
  }
  void work() noexcept {
    try {
      for (std::unique_lock lock(mutex_);;) {
        idle_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return stop_ || !queue_.empty() || (closed_ && !ended_); });
        if (stop_) return;
        idle_ = false;
        if (queue_.empty()) {
          lock.unlock();
          one_.finish(scratch_, [this](const view<const float>& rows) { keep(rows); });
          lock.lock();
          ended_ = true;
          continue;
        }
        const std::vector<float> pcm = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        one_.push(pcm, scratch_, [this](const view<const float>& rows) { keep(rows); });
        lock.lock();
        queued_ -= pcm.size();
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  diarization one_;
  extent speakers_;
  context scratch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<float>> queue_;
  std::size_t queued_ = 0;  // samples, with those that are worked at
  std::vector<float> rows_;
  std::exception_ptr failure_;
  bool stop_ = false, closed_ = false, ended_ = false, idle_ = false;
  std::thread thread_;
};

}  // namespace detail

/// Beside one recording; the diarizer must outlive it. It may be moved; one thread at a time.
class speaker_labels {
 public:
  /// `beside`: the diarizer works on a thread of its own, and lets this executor run its tiles. Throws steno::error for
  /// options that make no sense.
  explicit speaker_labels(const diarizer& d, const diarize_options& o = {}, const speaker_attribution_options& a = {},
                          const std::optional<executor>& beside = {})
      : rule_(d.speakers(), d.frame_seconds(), a) {
    if (beside)
      beside_ = std::make_unique<detail::diarization_beside>(diarization(d, o), d.speakers(), *beside);
    else
      here_.emplace(d, o);
  }

  /// The recording's next samples, 16 kHz mono in [-1, 1]. `c` is not used by a diarizer with a thread of its own.
  STENO_ON_CALL void push(std::span<const float> pcm, context& c) {
    if (here_) {
      here_->push(pcm, c, [this](const view<const float>& rows) { rule_.push(rows); });
    } else {
      beside_->push(pcm);
      beside_->rows([this](const view<const float>& rows) { rule_.push(rows); });
    }
  }
  /// Waits for a diarizer on a thread of its own: all rows of the samples so far are there.
  void wait() {
    if (here_) return;
    beside_->wait();
    beside_->rows([this](const view<const float>& rows) { rule_.push(rows); });
  }
  /// No samples follow.
  STENO_ON_CALL void close(context& c) {
    if (closed_) return;
    closed_ = true;
    if (here_) {
      here_->finish(c, [this](const view<const float>& rows) { rule_.push(rows); });
    } else {
      beside_->close();
      beside_->rows([this](const view<const float>& rows) { rule_.push(rows); });
    }
    rule_.finish();
  }

  /// A segment of the recogniser, in order.
  void add(segment s) { rule_.add(std::move(s)); }
  /// No segment that is still to be added begins before so many seconds.
  void forget(double seconds) { rule_.forget(seconds); }
  /// Hands over what is settled (speaker_attribution::take()).
  void take(core::sink_ref<segment> sink) { rule_.take(sink); }
  /// The same of one segment that was added (speaker_attribution::take_one()).
  bool take_one(core::sink_ref<segment> sink) { return rule_.take_one(sink); }
  /// What joins words and speakers.
  const speaker_attribution& rule() const noexcept { return rule_; }

 private:
  speaker_attribution rule_;
  std::optional<diarization> here_;
  std::unique_ptr<detail::diarization_beside> beside_;
  bool closed_ = false;
};

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
