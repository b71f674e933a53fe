// How many requests and sessions a client may begin in a minute.
//
// Tested in tests/transcriber/client_rates_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace steno::app {

/// Safe for threads.
class client_rates {
 public:
  using time = std::chrono::steady_clock::time_point;

  /// `per_minute` 0: any number.
  explicit client_rates(int per_minute) : per_minute_(per_minute) {}

  /// One more of this client's. Returns 0, or the seconds after which it may try again.
  int take(std::uint64_t client, time now = std::chrono::steady_clock::now());

 private:
  // Fills up again with time, to what a minute allows.
  struct allowance {
    double left;
    time at;
  };
  double filled(const allowance& a, time now) const;

  const int per_minute_;
  std::mutex mutex_;
  std::map<std::uint64_t, allowance> clients_;
};

}  // namespace steno::app
