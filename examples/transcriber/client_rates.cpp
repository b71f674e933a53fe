// SPDX-License-Identifier: Apache-2.0
#include "client_rates.hpp"

#include <algorithm>
#include <cmath>

namespace steno::app {

double client_rates::filled(const allowance& a, time now) const {
  const double minutes = std::chrono::duration<double, std::ratio<60>>(now - a.at).count();
  return std::min<double>(per_minute_, a.left + minutes * per_minute_);
}

int client_rates::take(std::uint64_t client, time now) {
  if (per_minute_ == 0) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Who has all of it again is as one who never came.
  if (clients_.size() >= 10000)
    std::erase_if(clients_, [&](const auto& c) { return filled(c.second, now) >= per_minute_; });
  const auto at = clients_.try_emplace(client, allowance{static_cast<double>(per_minute_), now}).first;
  allowance& a = at->second;
  a.left = filled(a, now);
  a.at = now;
  if (a.left >= 1) {
    a.left -= 1;
    return 0;
  }
  return std::max(1, static_cast<int>(std::ceil((1 - a.left) * 60 / per_minute_ - 1e-6)));
}

}  // namespace steno::app
