// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace steno::app {
namespace {

std::string figure(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", x);
  return text;
}
void head(std::string& out, const char* name, const char* kind, const char* about) {
  out.append("# HELP ").append(name).append(" ").append(about).append("\n# TYPE ").append(name).append(" ");
  out.append(kind).append("\n");
}
void one(std::string& out, const char* name, const char* kind, const char* about, double value) {
  head(out, name, kind, about);
  out.append(name).append(" ").append(figure(value)).append("\n");
}

}  // namespace

void metrics::histogram::add(double x) {
  ++counts[static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), x) - bounds.begin())];
  sum += x;
}

void metrics::answered(std::string_view path, int status, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++requests_[{std::string(path), status}];
  latency_.add(seconds);
}

void metrics::recognised(double audio_seconds, double waited, double worked, bool together) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++recordings_;
  if (together) ++together_;
  audio_ += audio_seconds;
  worked_ += worked;
  waiting_.add(waited);
}

void metrics::session_began() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++sessions_;
  ++sessions_now_;
}
std::uint64_t metrics::sessions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sessions_now_;
}
void metrics::session_ended(double audio_seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --sessions_now_;
  session_audio_ += audio_seconds;
}

void metrics::write(std::string& out, const char* name, const char* about, const histogram& h) {
  head(out, name, "histogram", about);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    count += h.counts[i];
    out.append(name).append("_bucket{le=\"").append(i < bounds.size() ? figure(bounds[i]) : "+Inf").append("\"} ");
    out.append(std::to_string(count)).append("\n");
  }
  out.append(name).append("_sum ").append(figure(h.sum)).append("\n");
  out.append(name).append("_count ").append(std::to_string(count)).append("\n");
}

std::string metrics::text(const state& now) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string out;
  head(out, "steno_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_)
    out.append("steno_requests_total{path=\"")
        .append(key.first)
        .append("\",status=\"")
        .append(std::to_string(key.second))
        .append("\"} ")
        .append(std::to_string(count))
        .append("\n");
  write(out, "steno_request_seconds", "From a request's header to its answer.", latency_);
  write(out, "steno_queue_wait_seconds", "What recordings waited for a thread.", waiting_);
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  one(out, "steno_recordings_total", "counter", "Recordings that were recognised.", count(recordings_));
  one(out, "steno_recordings_together_total", "counter", "Of these, recognised together with others.",
      count(together_));
  one(out, "steno_audio_seconds_total", "counter", "Of recordings that were recognised.", audio_);
  one(out, "steno_recognition_seconds_total", "counter", "Time that threads took for them.", worked_);
  one(out, "steno_real_time_factor", "gauge", "Their time by their audio, of all so far; 0 before the first.",
      audio_ > 0 ? worked_ / audio_ : 0);
  one(out, "steno_queue_length", "gauge", "Recordings that wait for a thread.", static_cast<double>(now.waiting));
  one(out, "steno_recordings_running", "gauge", "Recordings that are recognised now.",
      static_cast<double>(now.running));
  one(out, "steno_connections", "gauge", "Connections now.", static_cast<double>(now.connections));
  one(out, "steno_sessions", "gauge", "WebSocket sessions now.", count(sessions_now_));
  one(out, "steno_sessions_total", "counter", "WebSocket sessions that began.", count(sessions_));
  one(out, "steno_session_audio_seconds_total", "counter", "Audio of sessions that have ended.", session_audio_);
  return out;
}

}  // namespace steno::app
