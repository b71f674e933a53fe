// steno/weights/byte_filler.hpp - owns a callable that fills bytes when they are wanted: a tensor made while it is
// written.
//
// Tested in tests/weights/gguf_writer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Owns any callable void(std::span<std::byte>); move-only.
class byte_filler {
 public:
  /// Holds no callable and must not be called.
  byte_filler() = default;
  /// Takes the callable over: moved, or copied from an lvalue.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, byte_filler>) explicit byte_filler(F&& f)
      : self_(new std::decay_t<F>(std::forward<F>(f)), [](void* p) { delete static_cast<std::decay_t<F>*>(p); }),
        call_([](void* p, std::span<std::byte> out) { (*static_cast<std::decay_t<F>*>(p))(out); }) {}
  /// Whether it holds a callable.
  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Calls it with `out`, the bytes to be filled; passes on what it throws. Only where there is one.
  void operator()(std::span<std::byte> out) const { call_(self_.get(), out); }

 private:
  std::unique_ptr<void, void (*)(void*)> self_{nullptr, [](void*) {}};
  void (*call_)(void*, std::span<std::byte>) = nullptr;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
