// steno/layers/activation.hpp - which activation a layer has: a type, so that it can be read in the stack's.
//
// relu, gelu (the exact form), silu, identity; activation_of_env takes what the stack's record says, for families whose
// files decide. Tested in tests/layers/stack_test.cpp.
#pragma once
#include <steno/kernels/epilogue.hpp>

namespace steno {
inline namespace STENO_ABI {

template <kernels::activation Act>
struct fixed_activation {
  static constexpr kernels::activation of(const auto&) noexcept { return Act; }
};
using identity = fixed_activation<kernels::activation::none>;
using relu = fixed_activation<kernels::activation::relu>;
using gelu = fixed_activation<kernels::activation::gelu>;
using silu = fixed_activation<kernels::activation::silu>;

/// What `env.activation` is.
struct activation_of_env {
  template <class Env>
  static kernels::activation of(const Env& env) noexcept {
    static_assert(
        requires { env.activation; }, "steno: this stack's record has no `activation`, which one of its layers reads");
    return env.activation;
  }
};

}  // namespace STENO_ABI
}  // namespace steno
