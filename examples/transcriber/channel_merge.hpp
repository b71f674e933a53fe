// The segments of a recording's channels, each of which was recognised by itself, in the order of their starts.
//
// A segment goes out as soon as no other channel can have an earlier one. Tested in
// tests/transcriber/channel_merge_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace steno::app {

class channel_merge {
 public:
  explicit channel_merge(int channels) : waiting_(static_cast<std::size_t>(channels)), from_(waiting_.size(), 0.0) {}

  /// Of a channel, from 0 on; those of one come in the order of their starts.
  void add(int channel, segment s) { waiting_[static_cast<std::size_t>(channel)].push_back(std::move(s)); }
  /// No segment of the channel that is still to come begins before so many seconds.
  void known(int channel, double seconds) { from_[static_cast<std::size_t>(channel)] = seconds; }
  void end(int channel) { known(channel, std::numeric_limits<double>::infinity()); }

  /// sink(channel, segment) for each whose place is known. Equal starts are in the order of the channels.
  template <class F>
  void take(F&& sink) {
    for (;;) {
      std::size_t first = waiting_.size();
      for (std::size_t c = 0; c < waiting_.size(); ++c)
        if (!waiting_[c].empty() &&
            (first == waiting_.size() || waiting_[c].front().start < waiting_[first].front().start))
          first = c;
      if (first == waiting_.size()) return;
      const double start = waiting_[first].front().start;
      for (std::size_t c = 0; c < waiting_.size(); ++c)
        if (waiting_[c].empty() && (from_[c] < start || (from_[c] == start && c < first))) return;
      segment s = std::move(waiting_[first].front());
      waiting_[first].pop_front();
      sink(static_cast<int>(first), std::move(s));
    }
  }

 private:
  std::vector<std::deque<segment>> waiting_;
  std::vector<double> from_;
};

}  // namespace steno::app
