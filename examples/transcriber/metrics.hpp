// What the server has done, in Prometheus' text format (0.0.4).
//
// Tested in tests/transcriber/metrics_test.cpp and tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace steno::app {

/// Safe for threads.
class metrics {
 public:
  /// A request that was answered; `path` is one of a few.
  void answered(std::string_view path, int status, double seconds);
  /// A recording that was recognised: its length, the time that it waited and the time that it took; whether it was
  /// recognised together with others.
  void recognised(double audio_seconds, double waited, double worked, bool together = false);
  /// Of sessions.
  void session_began();
  void session_ended(double audio_seconds);
  std::uint64_t sessions() const;  ///< now

  /// What holds now.
  struct state {
    std::size_t connections = 0, waiting = 0, running = 0;
  };
  std::string text(const state& now) const;

 private:
  /// Seconds.
  static constexpr std::array<double, 12> bounds{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
  struct histogram {
    std::array<std::uint64_t, bounds.size() + 1> counts{};
    double sum = 0;
    void add(double x);
  };
  static void write(std::string& out, const char* name, const char* about, const histogram& h);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  histogram latency_, waiting_;
  double audio_ = 0, worked_ = 0, session_audio_ = 0;
  std::uint64_t recordings_ = 0, together_ = 0, sessions_ = 0, sessions_now_ = 0;
};

}  // namespace steno::app
