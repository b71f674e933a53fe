// steno/kernels/isa/for_each.hpp - compiles one kernel file once per instruction set.
//
//   #define STENO_KERNEL_FILE <steno/kernels/generic/softmax.inl>
//   #include <steno/kernels/isa/for_each.hpp>
//
// The file holds only functions (no #include) written against f32x16. They land in steno::kernels::scalar, and on
// x86-64 in ::avx2 and ::avx512, each inside its target region, on AArch64 in ::neon, which needs none: a build without
// any -m flag has all of them; dispatch.hpp chooses. What the file needs is included before. Lambdas in it need
// [[gnu::always_inline]]: they do not inherit the region under every compiler. Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef STENO_KERNEL_FILE
#error "define STENO_KERNEL_FILE before including this file"
#endif
#include <steno/kernels/isa/dispatch.hpp>
#include <steno/kernels/isa/scalar.hpp>
#if defined(__x86_64__)
#include <steno/kernels/isa/avx2.hpp>
#include <steno/kernels/isa/avx512.hpp>
#elif defined(__aarch64__)
#include <steno/kernels/isa/neon.hpp>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels::scalar {
#include STENO_KERNEL_FILE
}  // namespace kernels::scalar
}  // namespace STENO_ABI
}  // namespace steno

#if defined(__x86_64__)
#include <steno/kernels/isa/region_avx2_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx2 {
#include STENO_KERNEL_FILE
}  // namespace kernels::avx2
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avx512_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512 {
#include STENO_KERNEL_FILE
}  // namespace kernels::avx512
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
#elif defined(__aarch64__)
namespace steno {
inline namespace STENO_ABI {
namespace kernels::neon {
#include STENO_KERNEL_FILE
}  // namespace kernels::neon
}  // namespace STENO_ABI
}  // namespace steno
#endif
#undef STENO_KERNEL_FILE
