// Where the time of recognition goes: a tracer that looks at the clock.
//
// Networks show what each stage has made; the time since whatever was shown before is that stage's. Layers of equal
// names are one line ("encoder.layers.*.self_attn"). What lies behind the last stage of a clip is search and text.
// Stages that run on other threads are not seen: one clip at a time.
//
// Tested in tests/transcriber/stage_clock_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/trace.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno::app {

class stage_clock {
 public:
  using now_function = std::function<double()>;
  /// `now`: seconds of any clock; by default the wall's.
  explicit stage_clock(now_function now = wall) : now_(std::move(now)), last_(now_()) {}
  stage_clock(const stage_clock&) = delete;
  stage_clock& operator=(const stage_clock&) = delete;

  /// For a context; the clock must outlive it.
  core::tracer tracer() { return core::tracer(*this); }
  void operator()(std::string_view path, const view<const float>&) { mark(path); }
  /// The time since the last mark was spent on this.
  void mark(std::string_view path) noexcept;
  /// A table: first the parts of the model (what stands in front of the first dot), then the stages that took longest,
  /// at most `most` of these. Empty before the first mark.
  std::vector<std::string> lines(std::size_t most = 20) const;

 private:
  struct spent {
    double seconds = 0;
    std::size_t calls = 0;
    void add(const spent& more) {
      seconds += more.seconds;
      calls += more.calls;
    }
  };
  static double wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  now_function now_;
  double last_;
  std::map<std::string, spent, std::less<>> stages_;
};

}  // namespace steno::app
