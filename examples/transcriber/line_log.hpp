// Lines for whoever reads the log, who may stall or go away: what speaks never waits for what reads.
//
// Lines go into a bounded queue and one thread writes them, prefixed with "steno: ". A line that finds the queue full
// is dropped and counted, and the count is written as soon as there is room. Tested in
// tests/transcriber/line_log_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace steno::app {

class line_log {
 public:
  /// Writes to an open descriptor, of which it owns nothing; `lines` may wait. Throws steno::error when no thread can
  /// be had.
  explicit line_log(int descriptor, std::size_t lines = 1024);
  /// Writes what is left as far as the reader takes it within `patience`, and no longer.
  ~line_log();
  line_log(const line_log&) = delete;
  line_log& operator=(const line_log&) = delete;

  /// One line of at most 1000 bytes, the rest is cut off; control characters are shown as '?'. From any thread; waits
  /// for no reader.
  void say(std::string_view line) noexcept;
  /// How many lines were dropped since the beginning.
  std::uint64_t dropped() const;

  static constexpr std::chrono::milliseconds patience{500};

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace steno::app
