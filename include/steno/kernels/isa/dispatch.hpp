// steno/kernels/isa/dispatch.hpp - chooses one of the functions that for_each.hpp compiled, once per call.
//
// Tested in tests/kernels/isa_test.cpp.
#pragma once
#include <steno/kernels/cpu.hpp>

namespace steno::inline STENO_ABI::kernels::detail {

template <class F>
F* choose(F* scalar, F* avx2, F* avx512) noexcept {
  switch (active_isa()) {
    case isa::scalar:
      return scalar;
    case isa::avx2:
      return avx2;
    default:
      return avx512;
  }
}

}  // namespace steno::inline STENO_ABI::kernels::detail

// The function `name` for the active instruction set; used inside namespace steno::kernels only.
#if defined(__x86_64__)
#define STENO_KERNEL(name) detail::choose(&scalar::name, &avx2::name, &avx512::name)
#else
#define STENO_KERNEL(name) (&scalar::name)
#endif
