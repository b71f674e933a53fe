// steno/core/trace.hpp - named intermediate tensors, for steno-trace and the parity tests.
//
// A tracer is two words: where to send a tensor. Names are paths built from member names (the checkpoint's), such as
// "encoder.encoders0.0.norm1"; models map them to the stage names of the golden cases. Without a tracer the cost is one
// branch per stage. Tested in tests/core/trace_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <memory>
#include <string_view>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// Reference to a callable f(std::string_view path, view<const float>). Empty by default.
class tracer {
 public:
  /// Traces nothing.
  tracer() noexcept = default;
  /// Refers to `f`, which must outlive the tracer.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, tracer> &&
           std::is_invocable_v<F&, std::string_view, view<const float>>) explicit tracer(F& f) noexcept
      : self_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_(
            [](void* self, std::string_view path, const view<const float>& x) { (*static_cast<F*>(self))(path, x); }) {}
  /// Whether there is something to send tensors to.
  explicit operator bool() const noexcept { return self_ != nullptr; }
  /// Sends tensor `x`, named `path`. The tracer must not be empty.
  void operator()(std::string_view path, const view<const float>& x) const { call_(self_, path, x); }

 private:
  void* self_ = nullptr;
  void (*call_)(void*, std::string_view, const view<const float>&) = nullptr;
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
