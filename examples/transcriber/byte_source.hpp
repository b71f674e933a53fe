// Bytes in their order, from wherever they come: a stream, or what a program writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace steno::app {

class byte_source {
 public:
  /// `name` is for messages.
  explicit byte_source(std::string name) : name_(std::move(name)) {}
  virtual ~byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  /// Waits for bytes and puts at most so many into `to`; returns how many, 0 at the end, which an interruption is too.
  /// Throws steno::error when they cannot be read.
  virtual std::size_t read(std::uint8_t* to, std::size_t most) = 0;

  /// Appends to `bytes` until it holds `want`, unless the end comes first. Throws steno::error.
  void fill(std::vector<std::uint8_t>& bytes, std::size_t want);
  const std::string& name() const { return name_; }

 protected:
  byte_source(byte_source&&) = default;

 private:
  std::string name_;
};

}  // namespace steno::app
