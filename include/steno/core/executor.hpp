// steno/core/executor.hpp - who runs the tiles of a layer: two words that refer to anything with width() and run().
//
// A layer splits its work into n tiles that do not depend on the width, so results have the same bits for any number of
// threads. The default runs everything on the calling thread. Tested in tests/core/executor_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {

namespace core {
/// Reference to a callable task(index, worker): index in [0, n), worker in [0, width). Does not own; must not throw.
class task {
 public:
  /// Refers to `f`, which must live as long as it is called.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, task>) task(F&& f)
      : self_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* self, extent i, int worker) { (*static_cast<std::remove_reference_t<F>*>(self))(i, worker); }) {}
  /// Calls it for tile `index` by worker `worker`.
  void operator()(extent index, int worker) const { call_(self_, index, worker); }

 private:
  void* self_;
  void (*call_)(void*, extent, int);
};
}  // namespace core

/// Reference to something that runs tasks. `run(n, t)` returns when t was called once for each index in [0, n);
/// `width()` is the number of workers, so worker-private scratch can be taken beforehand.
class executor {
 public:
  executor() noexcept = default;  ///< serial
  /// Refers to `e`, such as a thread_pool, which must outlive the executor and everything that copies it.
  template <class E>
  requires(!std::is_same_v<std::remove_cvref_t<E>, executor> && requires(E & e, core::task t) {
    e.run(extent{}, t);
    { e.width() } -> std::convertible_to<int>;
  }) executor(E& e)
  noexcept
      : self_(&e),
        width_([](void* self) { return static_cast<int>(static_cast<E*>(self)->width()); }),
        run_([](void* self, extent n, core::task t) { static_cast<E*>(self)->run(n, t); }) {}

  /// Number of workers; 1 when serial.
  int width() const noexcept { return self_ == nullptr ? 1 : width_(self_); }
  // Not inlined: the loop of one thread would be compiled with every task, and the task's body twice.
  /// Calls `t` once for each index in [0, n) and returns when all calls have. A single tile runs on the calling thread.
  [[gnu::noinline]] void run(extent n, core::task t) const {
    if (self_ != nullptr && n > 1) return run_(self_, n, t);
    for (extent i = 0; i < n; ++i) t(i, 0);
  }

 private:
  void* self_ = nullptr;
  int (*width_)(void*) = nullptr;
  void (*run_)(void*, extent, core::task) = nullptr;
};

}  // namespace STENO_ABI
}  // namespace steno
