// SPDX-License-Identifier: Apache-2.0
#include "cues.hpp"

#include <steno/text/words_in_text.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "text_width.hpp"

namespace steno::app {
namespace {

// The segment's text cut before each word, so that spaces and punctuation stay as written. Empty when the words cannot
// be found in the text one after the other.
std::vector<std::string> cut_text(const segment& s) {
  const auto places = text::words_in_text(s.text, s.words);
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t end = i + 1 < places.size() ? places[i + 1].cut : s.text.size();
    pieces.push_back(s.text.substr(places[i].cut, end - places[i].cut));
  }
  return pieces;
}

// The words themselves, with spaces where a script writes them.
std::vector<std::string> join_words(const segment& s) {
  std::vector<std::string> pieces;
  for (const word& w : s.words) {
    const bool apart = !pieces.empty() && !ends_wide(pieces.back()) && !begins_wide(w.text);
    pieces.push_back((apart ? " " : "") + w.text);
  }
  return pieces;
}

// Of a segment whose words have no times.
std::vector<cue> shared_cues(const segment& s, const cue_limits& limits, const std::string& front,
                             const std::string& who) {
  std::vector<cue> cues;
  if (wrap(s.text, limits.columns).empty()) return cues;
  std::vector<int> widths;
  const std::vector<std::string> lines = wrap(front + s.text, limits.columns);
  for (std::size_t at = 0; at < lines.size(); at += static_cast<std::size_t>(limits.lines)) {
    cue& c = cues.emplace_back(cue{.speaker = who});
    int width = 0;
    for (std::size_t i = at; i < lines.size() && i < at + static_cast<std::size_t>(limits.lines); ++i) {
      c.lines.push_back(lines[i]);
      width += columns(lines[i]);
    }
    widths.push_back(width);
  }
  const double length = std::max(0.0, s.end - s.start), all = std::accumulate(widths.begin(), widths.end(), 0.0);
  double done = 0;
  for (std::size_t i = 0; i < cues.size(); ++i) {
    cues[i].start = s.start + length * done / all;
    done += widths[i];
    cues[i].end = i + 1 < cues.size() ? s.start + length * done / all : s.start + length;
  }
  return cues;
}

constexpr double shortest = 0.3, hold = 0.5;  // seconds

}  // namespace

bool words_have_times(const segment& s) {
  return !s.words.empty() && std::none_of(s.words.begin(), s.words.end(), [](const word& w) {
    return w.how == timing::none || w.text.empty() || !(w.end >= w.start);
  });
}

std::vector<std::string> words_as_written(const segment& s) {
  std::vector<std::string> pieces = cut_text(s);
  return pieces.empty() ? join_words(s) : pieces;
}

std::optional<cue> cue_times::next(cue c) {
  std::optional<cue> done = std::move(open_);
  if (done) {
    done->end = std::max(done->start + shortest, std::min(done->end + hold, c.start));
    free_from_ = done->end;
  }
  c.start = std::max(c.start, free_from_);
  c.end = std::max(c.end, c.start);
  open_ = std::move(c);
  return done;
}

std::optional<cue> cue_times::last(double duration) {
  std::optional<cue> done = std::move(open_);
  open_.reset();
  if (done) {
    done->end = std::min(std::max(done->start + shortest, done->end + hold), std::max(duration, free_from_));
    done->start = std::min(done->start, std::max(free_from_, done->end - shortest));
  }
  free_from_ = 0;
  return done;
}

std::vector<cue> split_cues(const segment& s, const cue_limits& limits, bool named) {
  std::vector<cue> cues;
  const std::string who = s.speaker.value_or(""), front = named && !who.empty() ? who + ": " : "";
  if (!words_have_times(s)) return shared_cues(s, limits, front, who);
  const std::vector<std::string> pieces = words_as_written(s);
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const word& w = s.words[i];
    std::vector<std::string> lines = wrap(text + pieces[i], limits.columns);
    const bool fits = !cues.empty() && static_cast<int>(lines.size()) <= limits.lines &&
                      w.end - cues.back().start <= limits.seconds && w.start - cues.back().end < limits.pause;
    if (fits) {
      text += pieces[i];
    } else {
      text = front + pieces[i];
      lines = wrap(text, limits.columns);
      cues.push_back({w.start, w.end, {}, who, {}});
    }
    cues.back().words.push_back({pieces[i], w.start, w.end});
    cues.back().end = std::max(cues.back().end, w.end);
    cues.back().lines = std::move(lines);
  }
  return cues;
}

}  // namespace steno::app
