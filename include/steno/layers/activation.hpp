// steno/layers/activation.hpp - which activation a layer has: a type, so that it can be read in the stack's.
//
// relu, gelu (the exact form), silu, identity; activation_of_env takes what the stack's record says, for families whose
// files decide. Tested in tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/epilogue.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// An activation that the type decides.
template <kernels::activation Act>
struct fixed_activation {
  /// The same for every record.
  static constexpr kernels::activation of(const auto&) noexcept { return Act; }
};
/// y = x.
using identity = fixed_activation<kernels::activation::none>;
/// y = max(x, 0).
using relu = fixed_activation<kernels::activation::relu>;
/// y = x/2 (1 + erf(x / sqrt 2)).
using gelu = fixed_activation<kernels::activation::gelu>;
/// y = x / (1 + exp(-x)).
using silu = fixed_activation<kernels::activation::silu>;

/// What `env.activation` is.
struct activation_of_env {
  /// Reads it from the record of a call; a record without one does not compile.
  template <class Env>
  static kernels::activation of(const Env& env) noexcept {
    static_assert(
        requires { env.activation; }, "steno: this stack's record has no `activation`, which one of its layers reads");
    return env.activation;
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
