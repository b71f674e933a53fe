// steno/core/sink_ref.hpp - a reference to what takes results: any callable, without owning or allocating anything.
//
//   void push(std::span<const float> pcm, context& c, sink_ref<segment> sink);
//   r.push(pcm, c, [&](segment s) { ... });
//
// For interfaces whose bodies are compiled once; the callable must live as long as the call. Tested in
// tests/core/sink_ref_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// Emits values of type T, each by one call. As thread-safe as the callable is.
template <class T>
class sink_ref {
 public:
  /// Refers to `f`, which must live as long as it is called.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, sink_ref> && std::invocable<std::remove_reference_t<F>&, T>)
      sink_ref(F&& f)
  noexcept
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* callable, T value) {
          (*static_cast<std::remove_reference_t<F>*>(callable))(std::forward<T>(value));
        }) {}

  /// Hands `value` on to the callable.
  void operator()(T value) const { call_(callable_, std::forward<T>(value)); }

 private:
  void* callable_;
  void (*call_)(void*, T);
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
