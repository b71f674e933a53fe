// steno/core/text_ref.hpp - a reference to what takes a text while it is written: any callable f(std::string_view), or
// nobody.
//
//   const auto show = [](std::string_view text) { ... };
//   transcribe(model, pcm, {.writing = show}, context);
//
// Tested in tests/pipelines/writing_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// Does not own; as thread-safe as the callable is.
class text_ref {
 public:
  text_ref() = default;  ///< nobody
  /// Refers to `f`, which must outlive it.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, text_ref> && std::invocable<F&, std::string_view>) text_ref(F& f)
  noexcept
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* callable, std::string_view text) { (*static_cast<F*>(callable))(text); }) {}

  /// Whether there is somebody.
  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Hands `text` on, without the replacement characters of bytes that are half of one at its end.
  void operator()(std::string_view text) const {
    if (call_ == nullptr) return;
    while (text.ends_with("\xef\xbf\xbd")) text.remove_suffix(3);
    call_(callable_, text);
  }

 private:
  void* callable_ = nullptr;
  void (*call_)(void*, std::string_view) = nullptr;
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
