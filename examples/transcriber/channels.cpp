// SPDX-License-Identifier: Apache-2.0
#include "channels.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "signals.hpp"

namespace steno::app {
namespace {

constexpr std::size_t samples_at_once = 65536;  // samples of all channels

std::string exact_seconds(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

}  // namespace

std::optional<channel_choice> find_channels(std::string_view text) {
  using enum channel_choice::how;
  if (text == "mix") return channel_choice{mix};
  if (text == "split") return channel_choice{split};
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 1 || number > 1024) return std::nullopt;
  return channel_choice{one, number};
}

channel_reader::channel_reader(std::unique_ptr<sample_source> source, std::string name, channel_choice choice,
                               recording_part part)
    : source_(std::move(source)), name_(std::move(name)), choice_(choice), part_(part) {
  const int channels = source_->channels();
  if (choice_.what == channel_choice::how::one && choice_.number > channels)
    fail({.where = name_,
          .what = "has no channel " + std::to_string(choice_.number),
          .expected = "--channels mix, split or 1" + (channels > 1 ? " to " + std::to_string(channels) : "")});
  if (choice_.what == channel_choice::how::split && channels > most_split)
    fail({.where = name_,
          .what = "--channels split",
          .expected = "at most " + std::to_string(most_split) + " channels",
          .found = std::to_string(channels)});
  voices_.resize(choice_.what == channel_choice::how::split ? static_cast<std::size_t>(channels) : 1);
}

double channel_reader::seconds() const {
  const double all = source_->seconds();
  if (all < 0) return -1.0;
  const double rest = std::max(0.0, all - part_.offset);
  return part_.duration ? std::min(rest, *part_.duration) : rest;
}

std::size_t channel_reader::read_frames(std::size_t frames) {
  const auto channels = static_cast<std::size_t>(source_->channels());
  frames_.resize(std::min(frames, std::max<std::size_t>(1, samples_at_once / channels)) * channels);
  return source_->read(frames_);
}

// What stands in front of the part is decoded and left out: so its samples are those that they are without an offset.
bool channel_reader::skip() {
  begun_ = true;
  auto left = static_cast<std::uint64_t>(std::llround(part_.offset * source_->rate()));
  const std::uint64_t wanted = left;
  while (left > 0) {
    const std::size_t got = read_frames(static_cast<std::size_t>(std::min<std::uint64_t>(left, samples_at_once)));
    if (got == 0 && input_is_over()) return false;
    if (got == 0)
      fail({.where = name_,
            .what = "--offset " + exact_seconds(part_.offset) + " is behind its end",
            .found = exact_seconds(static_cast<double>(wanted - left) / source_->rate())});
    left -= got;
  }
  return true;
}

std::size_t channel_reader::pull(std::size_t frames) {
  if (over_ || (!begun_ && !skip())) return 0;
  if (part_.duration) {
    const auto all = static_cast<std::uint64_t>(std::llround(*part_.duration * source_->rate()));
    frames = static_cast<std::size_t>(std::min<std::uint64_t>(frames, all - count_));
  }
  const std::size_t got = frames == 0 ? 0 : read_frames(frames);
  const auto channels = static_cast<std::size_t>(source_->channels());
  for (std::size_t t = 0; t < got; ++t) {
    const auto frame = std::span<const float>(frames_).subspan(t * channels, channels);
    using enum channel_choice::how;
    if (choice_.what == split)
      for (std::size_t c = 0; c < channels; ++c) voices_[c].waiting.push_back(sample(voices_[c], frame[c]));
    else
      voices_[0].waiting.push_back(
          choice_.what == one ? sample(voices_[0], frame[static_cast<std::size_t>(choice_.number - 1)]) : mixed(frame));
  }
  count_ += got;
  if (got == 0) report();
  return got;
}

std::size_t channel_reader::read(int number, std::span<float> samples) {
  voice& v = voices_[static_cast<std::size_t>(number)];
  if (v.taken == v.waiting.size()) {
    v.waiting.clear();
    v.taken = 0;
    if (pull(samples.size()) == 0) return 0;
  }
  const std::size_t n = std::min(samples.size(), v.waiting.size() - v.taken);
  std::copy_n(v.waiting.begin() + static_cast<std::ptrdiff_t>(v.taken), n, samples.begin());
  v.taken += n;
  return n;
}

// NaN, infinities and absurd values would spoil every later frame: they become silence, and are counted.
float channel_reader::sample(voice& v, float x) {
  if (std::abs(x) <= 65536.0f) return x;  // false for NaN
  ++v.bad;
  return 0.0f;
}

float channel_reader::mixed(std::span<const float> frame) {
  float sum = 0;
  for (const float x : frame) sum += x;
  const float mean = frame.size() == 1 ? sum : sum * (1.0f / static_cast<float>(frame.size()));
  const std::size_t bad = voices_[0].bad;
  const float used = sample(voices_[0], mean);
  if (frame.size() == 1 || voices_[0].bad != bad) return used;
  double energy = 0;
  for (const float x : frame) energy += static_cast<double>(x) * static_cast<double>(x);
  of_channels_ += energy / static_cast<double>(frame.size());
  of_mix_ += static_cast<double>(mean) * static_cast<double>(mean);
  return used;
}

void channel_reader::report() {
  if (std::exchange(over_, true)) return;
  for (std::size_t i = 0; i < voices_.size(); ++i) {
    const std::size_t bad = voices_[i].bad;
    if (bad == 0) continue;
    damaged_ = true;
    const std::string front = voices_.size() > 1 ? "channel " + std::to_string(i + 1) + ": " : "";
    warnings_.push_back(front + (bad == count_
                                     ? "none of its " + std::to_string(bad) + " samples is a number; taken as silence"
                                     : std::to_string(bad) + " samples are not numbers or far too large; taken as 0"));
  }
  if (of_channels_ > 1e-9 * static_cast<double>(count_) && of_mix_ < 1e-3 * of_channels_)
    warnings_.push_back(
        "the channels cancel each other out (opposite phase): their mix is 30 dB below them or silent; listen to one "
        "of them: --channels 1");
}

std::vector<std::string> channel_reader::warnings() const {
  std::vector<std::string> all = source_->warnings();
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  return all;
}

}  // namespace steno::app
