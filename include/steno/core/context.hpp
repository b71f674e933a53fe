// steno/core/context.hpp - what a forward pass borrows: scratch memory, someone to run tiles, and perhaps a tracer.
//
// One context per stream; models and layers are const and shared. Tested in tests/core/trace_test.cpp and
// tests/pipelines/cancel_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/core/stop_token.hpp>
#include <steno/core/trace.hpp>
#include <steno/core/workspace.hpp>
#include <steno/error.hpp>

#include <cstring>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {

/// The execution context: what a forward pass borrows and a stream owns. One per stream; not thread-safe, while the
/// models and layers that use it are const and shared.
class context {
 public:
  context() = default;
  /// Refers to `e` and `t`, which must outlive the context. Without a tracer nothing is traced.
  explicit context(executor e, core::tracer t = {}) : run(e), tracer_(t) {}

  core::workspace scratch;  ///< memory of intermediate tensors; reused from pass to pass
  executor run;             ///< runs the tiles of the layers; by default the calling thread
  /// Ends calls that run with this context, from any thread: the next layer of a network and the next clip of a
  /// recording throw steno::core::cancelled once a stop is requested. By default nobody can.
  core::stop_token stop = {};

  /// Throws steno::core::cancelled when a stop is requested.
  void check_stop() const {
    if (stop.stop_requested()) refuse_to_go_on();
  }

  /// True when somebody wants to see intermediate tensors.
  bool tracing() const noexcept { return static_cast<bool>(tracer_); }
  /// Sends intermediate tensors to `t` from now on; an empty tracer ends it.
  void trace_to(core::tracer t) noexcept { tracer_ = t; }

  /// Shows a tensor under the present path + `name`.
  template <class M>
  void trace(std::string_view name, const M& x) {
    if (tracing()) show(name, core::read(x));
  }

  /// Extends the path while it lives: `auto s = c.enter("encoders", 3);`.
  class scope {
   public:
    /// Appends `.name` and, unless it is negative, `.index` to the path; does nothing when nobody traces.
    scope(context& c, std::string_view name, extent index = -1) : home_(c), mark_(c.length_) {
      if (c.tracing()) c.extend(name, index);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() { home_.length_ = mark_; }

   private:
    context& home_;
    std::size_t mark_;
  };
  /// Extends the path by a stage, and an index unless it is negative, until the returned scope ends.
  [[nodiscard]] scope enter(std::string_view name, extent index = -1) { return scope(*this, name, index); }

 private:
  [[noreturn]] STENO_COLD static void refuse_to_go_on() { throw core::cancelled(); }
  // Every stage of every layer has these two, so what they do when somebody traces is not repeated there.
  STENO_COLD void show(std::string_view name, const view<const float>& x) {
    const std::size_t mark = length_;
    append(name);
    tracer_(std::string_view(path_, length_), x);
    length_ = mark;
  }
  STENO_COLD void extend(std::string_view name, extent index) {
    if (!name.empty()) append(name);
    if (index >= 0) append_number(index);
  }
  void append(std::string_view s) {
    if (length_ != 0 && length_ < sizeof path_) path_[length_++] = '.';
    const std::size_t n = std::min(s.size(), sizeof path_ - length_);
    std::memcpy(path_ + length_, s.data(), n);
    length_ += n;
  }
  void append_number(extent v) {
    char digits[24];
    std::size_t n = sizeof digits;
    do digits[--n] = static_cast<char>('0' + v % 10);
    while ((v /= 10) != 0);
    append(std::string_view(digits + n, sizeof digits - n));
  }

  core::tracer tracer_;
  char path_[192];
  std::size_t length_ = 0;
};

}  // namespace STENO_ABI
}  // namespace steno
