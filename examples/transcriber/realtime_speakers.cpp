// SPDX-License-Identifier: Apache-2.0
#include "realtime_speakers.hpp"

#include <utility>

#include "time_shift.hpp"

namespace steno::app {

realtime_speakers::realtime_speakers(const speaker_model& m, double begin)
    : begin_(begin), who_(m.model, m.diarization, m.rule) {}

void realtime_speakers::push(std::span<const float> pcm) { who_.push(pcm, scratch_); }

void realtime_speakers::add(const std::string& item, const std::vector<segment>& said) {
  for (const segment& s : said) {
    items_.push_back(item);
    who_.add(shifted(s, -begin_));
  }
}

void realtime_speakers::forget(double seconds) { who_.forget(seconds - begin_); }

void realtime_speakers::end() { who_.close(scratch_); }

std::vector<realtime_speakers::part> realtime_speakers::take() {
  std::vector<part> parts;
  while (!items_.empty()) {
    if (!who_.take_one([&](segment s) { parts.push_back({items_.front(), shifted(std::move(s), begin_)}); })) break;
    items_.pop_front();
  }
  return parts;
}

}  // namespace steno::app
