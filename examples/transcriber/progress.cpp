// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "digits.hpp"
#include "json_builder.hpp"
#include "text_width.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace {

std::string printed(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

// The file's own name, its front cut off where it is too long.
std::string short_name(std::string_view path, int width) {
  std::string name(utf8_path(path).filename().string());
  if (columns(name) <= width) return name;
  while (!name.empty() && columns(name) > width - 2) {
    name.erase(0, 1);
    while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xc0u) == 0x80u) name.erase(0, 1);
  }
  return ".." + name;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e9) : 0.0);
  if (s < 3600) return std::to_string(s / 60) + ":" + padded(s % 60, 2);
  return std::to_string(s / 3600) + ":" + padded(s / 60 % 60, 2) + ":" + padded(s % 60, 2);
}

std::string bar_text(const bar_state& s, int width) {
  std::string count = "[";
  count.append(std::to_string(s.file)).append("/").append(std::to_string(s.files)).append("] ");
  std::string tail;
  if (s.total > 0) {
    const double part = std::clamp(s.done / s.total, 0.0, 1.0);
    const auto marks = static_cast<std::size_t>(part * 20.0);
    tail = " [" + std::string(marks, '#') + std::string(20 - marks, '-') + "] " +
           printed("%3.0f %%", std::floor(part * 100.0));
  }
  tail += "  " + duration_text(s.elapsed);
  if (s.done > 0 && s.elapsed > 0) {
    tail += "  " + printed("%.1fx", s.done / s.elapsed);
    if (s.total > s.done) tail += "  " + duration_text(s.elapsed * (s.total - s.done) / s.done) + " left";
  }
  const int room = width - columns(count) - columns(tail);
  return room >= 6 ? count + printable(short_name(s.name, room)) + tail
                   : tail.substr(1, static_cast<std::size_t>(std::max(0, width)));
}

std::string progress_json(const bar_state& s, bool done) {
  json_builder j;
  j.open('{').key("file").whole(static_cast<long long>(s.file)).key("files").whole(static_cast<long long>(s.files));
  j.key("audio").text(s.name).key("seconds").number(s.done).key("duration");
  if (s.total > 0)
    j.number(s.total);
  else
    j.none();
  j.key("elapsed").number(s.elapsed).key("done").raw(done ? "true" : "false");
  return std::move(j.close('}')).str();
}

void reporter::error(std::string_view text) { screen_.message("steno: " + printable(text)); }

void reporter::note(std::string_view text) {
  if (detail_ == detail::all) error(text);
}

void reporter::warning(std::string_view text, bool damaged) {
  if (damaged || detail_ == detail::all) error("warning: " + std::string(text));
}

void reporter::begin(std::size_t file, std::size_t files, std::string_view name) {
  const std::lock_guard<std::mutex> guard(mutex_);
  state_ = {file, files, std::string(name), 0, 0, 0};
  began_ = clock::now();
  open_ = true;
  draw();
}

void reporter::update(double done, double total) {
  const std::lock_guard<std::mutex> guard(mutex_);
  state_.done = done;
  state_.total = total;
  if (clock::now() - drawn_ > std::chrono::milliseconds(100)) draw();
}

void reporter::end() {
  const std::lock_guard<std::mutex> guard(mutex_);
  screen_.bar("");
  if (std::exchange(open_, false) && json_) {
    state_.elapsed = std::chrono::duration<double>(clock::now() - began_).count();
    screen_.message(progress_json(state_, true));
  }
}

void reporter::draw() {
  if (!json_ && (!bar_ || !screen_.shows_bar())) return;
  drawn_ = clock::now();
  state_.elapsed = std::chrono::duration<double>(drawn_ - began_).count();
  if (json_)
    screen_.message(progress_json(state_, false));
  else
    screen_.bar(bar_text(state_, screen_.width()));
}

void reporter::summary(double audio_seconds, double wall_seconds) {
  if (audio_seconds <= 0 || wall_seconds <= 0) return;
  note(printed("%.1f s of audio in ", audio_seconds) + printed("%.1f s: ", wall_seconds) +
       printed("%.1fx real time ", audio_seconds / wall_seconds) +
       printed("(real-time factor %.3f)", wall_seconds / audio_seconds));
}

}  // namespace steno::app
