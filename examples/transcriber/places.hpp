// How many connections there may be: in all, and from one peer.
//
// A peer is an IPv4 address, or the first 64 bits of an IPv6 address, because who has one such address has them all.
// Tested in tests/transcriber/places_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace steno::app {

/// Who is at the other end.
class peer {
 public:
  /// The 4 or 16 bytes of its address.
  explicit peer(std::span<const unsigned char> address);
  bool loopback() const { return loopback_; }
  auto operator<=>(const peer& other) const { return key_ <=> other.key_; }

 private:
  std::array<unsigned char, 9> key_{};  // the kind of address, then its bytes
  bool loopback_ = false;
};

/// Safe for threads.
class places {
 public:
  /// `per_peer` 0: a quarter of all for a peer on another machine, and all for this machine.
  places(int all, int per_peer);
  places(const places&) = delete;
  places& operator=(const places&) = delete;

  /// Empty when it was given; otherwise why not. What was given is returned by leave().
  std::string enter(const peer& p);
  void leave(const peer& p) noexcept;
  int taken() const;

 private:
  const int all_, per_peer_;
  mutable std::mutex mutex_;
  int taken_ = 0;
  std::map<peer, int> by_peer_;
};

/// A place that was given, and is given back in the end.
class seat {
 public:
  seat(places& all, const peer& who) : all_(all), who_(who) {}
  seat(const seat&) = delete;
  seat& operator=(const seat&) = delete;
  ~seat() { all_.leave(who_); }

 private:
  places& all_;
  const peer who_;
};

}  // namespace steno::app
