// SPDX-License-Identifier: Apache-2.0
#include "ffmpeg_log.hpp"

#include <cstdio>

namespace steno::app {
namespace {

constexpr std::size_t longest_log_line = 1000;

double clock_seconds(std::string_view text) {  // "01:02:03.45"
  int hours = 0, minutes = 0;
  double seconds = 0;
  const std::string copy(text.substr(0, 40));
  if (std::sscanf(copy.c_str(), "%9d:%2d:%lf", &hours, &minutes, &seconds) != 3) return -1;
  const double all = hours * 3600.0 + minutes * 60.0 + seconds;
  return all >= 0 && all < 1e7 ? all : -1;
}

}  // namespace

void ffmpeg_log::add(std::string_view text) {
  for (const char c : text) {
    if (c != '\n' && c != '\r') {
      if (line_.size() < longest_log_line) line_ += c;
      continue;
    }
    take(line_);
    line_.clear();
  }
}

void ffmpeg_log::end() {
  take(line_);
  line_.clear();
}

// "[mov,mp4 @ 0x55e2f37a5000] [error] moov atom not found"
void ffmpeg_log::take(std::string_view line) {
  bool is_error = true;
  while (line.starts_with('[')) {
    const std::size_t end = line.find("] ");
    if (end == std::string_view::npos) break;
    const std::string_view tag = line.substr(1, end - 1);
    line.remove_prefix(end + 2);
    if (tag == "error" || tag == "fatal" || tag == "panic") break;
    if (tag.find(" @ ") != std::string_view::npos) continue;
    is_error = false;
    break;
  }
  if (is_error) {
    for (const std::string_view from : {"file:/dev/fd/0: ", "pipe:0: ", "Error opening input: "})
      if (line.starts_with(from)) line.remove_prefix(from.size());
    if (line.find_first_not_of(" \t") == std::string_view::npos ||
        line.find("Last message repeated") != std::string_view::npos)
      return;
    ++errors_;
    (first_.empty() ? first_ : last_) = line;
    return;
  }
  // Texts of the recording are indented further.
  if (line.starts_with("Output #") || line.starts_with("Stream mapping")) outputs_ = true;
  if (outputs_) return;
  if (line.starts_with("Estimating duration")) guessed_ = true;
  if (line.starts_with("  Duration: ")) duration_ = clock_seconds(line.substr(12));
  if (line.starts_with("  Stream #0:")) ++streams_;
}

std::string ffmpeg_log::text() const {
  if (last_.empty() || last_ == first_) return first_;
  return first_ + "; " + last_;
}

}  // namespace steno::app
