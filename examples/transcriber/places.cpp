// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <algorithm>

namespace steno::app {

peer::peer(std::span<const unsigned char> address) {
  constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // ::ffff:a.b.c.d
  if (address.size() == 16 && std::equal(mapped.begin(), mapped.end(), address.begin())) address = address.subspan(12);
  const bool v4 = address.size() == 4;
  key_[0] = v4 ? 4 : 6;
  std::copy_n(address.begin(), std::min<std::size_t>(address.size(), 8), key_.begin() + 1);
  if (v4) {
    loopback_ = address[0] == 127;
  } else if (address.size() == 16) {
    loopback_ = address[15] == 1 && std::all_of(address.begin(), address.end() - 1, [](auto b) { return b == 0; });
  }
}

places::places(int all, int per_peer) : all_(all), per_peer_(per_peer) {}

std::string places::enter(const peer& p) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (taken_ >= all_) return "all " + std::to_string(all_) + " connections are taken";
  int most = per_peer_;
  if (most <= 0) most = p.loopback() ? all_ : std::max(1, all_ / 4);
  const auto at = by_peer_.try_emplace(p, 0).first;
  if (at->second >= most) return "all " + std::to_string(most) + " connections of one address are taken";
  ++at->second;
  ++taken_;
  return {};
}

void places::leave(const peer& p) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = by_peer_.find(p);
  if (at == by_peer_.end()) return;
  if (--at->second == 0) by_peer_.erase(at);
  --taken_;
}

int places::taken() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return taken_;
}

}  // namespace steno::app
