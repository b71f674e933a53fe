// What a protocol over WebSocket makes of a client's messages; the connection moves them (connection.cpp).
//
// wenet_session.hpp and realtime_session.hpp are the two that there are. All calls come from the connection's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace steno::app {

/// The connection that a protocol speaks through.
class live_host {
 public:
  /// What is called, from any thread, when the protocol need not wait any more. It holds the connection.
  virtual std::function<void()> waker() = 0;

 protected:
  ~live_host() = default;
};

class live_protocol {
 public:
  live_protocol() = default;
  live_protocol(const live_protocol&) = delete;
  live_protocol& operator=(const live_protocol&) = delete;
  virtual ~live_protocol() = default;

  /// A message of the client. What it cannot be is answered, or ends the session.
  virtual void text(std::string_view message) = 0;
  virtual void bytes(std::span<const unsigned char> message) = 0;
  /// The next slice of what is to be done, at most half a second of audio. False: nothing is, the next message may
  /// come.
  virtual bool proceed() = 0;
  /// No more messages: the server ends. proceed() then brings the last results, and `over`.
  virtual void end() = 0;
  /// The session ends before its time. Its memory is let go first, since the answer needs some.
  virtual void refuse(const std::string& why) = 0;
  /// Seconds of audio that came.
  virtual double audio_seconds() const = 0;

  std::deque<std::string> out;   ///< messages to the client, in order
  bool over = false;             ///< nothing comes behind what is in `out`
  bool waiting = false;          ///< for the host's waker: until then nothing is read, and proceed() is not called
  bool progressed = false;       ///< the client sent what the session is for; taken back by the connection
  std::string failed;            ///< why, where `over` is no good end
  std::deque<std::string> said;  ///< what was recognised for good, for a log that shall have it (server_hall.hpp)
};

}  // namespace steno::app
