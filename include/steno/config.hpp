// steno/config.hpp - version, and the inline namespace that keeps translation units with different flags apart.
//
// Every header opens `namespace steno`, and in it `inline namespace STENO_ABI` on a line of its own, because
// universal-ctags 5.9 cannot read the short form. The name encodes the version, the instruction set that the compiler's
// own flags guarantee, the FFT policy and where the kernels are, so two units built with different flags never share a
// symbol (tests/odr). A header may test only macros for which the name differs (tests/compile/concepts_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is missing, in one line: a header that is not there ends the compiler before thousands of errors follow.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "steno needs C++20: compile with -std=c++20"
#include <steno/needs_cpp20>
#elif !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "steno needs exceptions: compile without -fno-exceptions"
#include <steno/needs_exceptions>
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "steno needs a little-endian processor: it reads weights as they lie in files"
#include <steno/needs_little_endian>
#elif defined(_WIN32) && defined(__GNUC__) && !defined(__clang__) && !defined(STENO_UNALIGNED_MOVES)
#error "g++ for Windows misaligns AVX's stack: add -Wa,-muse-unaligned-vector-move -D STENO_UNALIGNED_MOVES"
#include <steno/needs_unaligned_moves>
#elif defined(min) || defined(max)
#error "min and max are macros, as windows.h makes them: define NOMINMAX before it is included"
#include <steno/needs_no_minmax>
#endif

#define STENO_VERSION_MAJOR 0
#define STENO_VERSION_MINOR 2
#define STENO_VERSION_PATCH 0

// The complete sets are those of kernels/cpu.hpp; the others have less than a kernel needs.
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#if defined(__AVX512VNNI__)
#define STENO_ABI_ISA avx512vnni
#else
#define STENO_ABI_ISA avx512
#endif
#elif defined(__AVX512F__)
#define STENO_ABI_ISA partial_avx512
#elif defined(__AVXVNNI__)
#define STENO_ABI_ISA avxvnni
#else
#define STENO_ABI_ISA avx2
#endif
#elif defined(__AVX512F__)
#define STENO_ABI_ISA bare_avx512
#elif defined(__AVX2__)
#define STENO_ABI_ISA bare_avx2
#elif defined(__AVX__)
#define STENO_ABI_ISA avx
#elif defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_DOTPROD)
#define STENO_ABI_ISA neon_i8mm
#elif defined(__ARM_FEATURE_DOTPROD)
#define STENO_ABI_ISA neon_dotprod
#elif defined(__wasm_simd128__)
#define STENO_ABI_ISA simd128
#else
#define STENO_ABI_ISA base
#endif

#if defined(STENO_FFT_FFTW)
#define STENO_ABI_FFT _fftw
#else
#define STENO_ABI_FFT
#endif

// Kernels are compiled in every unit, or, for those who link steno::kernels, in that library alone: the target defines
// the first of these for its users and the second for itself. In every unit they are templates with nothing to choose,
// as is what hands them on: g++ compiles whatever an inline function names, even if nobody calls it, and a unit that
// runs no model should compile no kernel. STENO_KERNEL_API stands before a declaration, STENO_KERNEL_BODY before the
// definition.
#if defined(STENO_LINK_KERNELS)
#define STENO_ABI_KERNELS _linked
#define STENO_KERNEL_API
#define STENO_KERNEL_BODY
#else
#define STENO_ABI_KERNELS
#define STENO_KERNEL_API STENO_ON_CALL inline
#define STENO_KERNEL_BODY \
  template <class>        \
  inline
#endif
#if defined(STENO_LINK_KERNELS) && !defined(STENO_BUILD_KERNELS)
#define STENO_KERNEL_BODIES 0
#else
#define STENO_KERNEL_BODIES 1
#endif

// STENO_LINK_PIPELINES: the closed classes of pipelines/ have their bodies in the library steno::pipelines, which
// defines STENO_BUILD_PIPELINES where it compiles them (pipelines/closed.hpp). The name does not say so: a body is the
// same wherever it is compiled.

#define STENO_ABI_JOIN(major, minor, isa, fft, kernels) v##major##_##minor##_##isa##fft##kernels
#define STENO_ABI_NAME(major, minor, isa, fft, kernels) STENO_ABI_JOIN(major, minor, isa, fft, kernels)
#define STENO_ABI \
  STENO_ABI_NAME(STENO_VERSION_MAJOR, STENO_VERSION_MINOR, STENO_ABI_ISA, STENO_ABI_FFT, STENO_ABI_KERNELS)

// A member without values takes no room. In Microsoft's ABI the standard's attribute does nothing.
#if defined(_MSC_VER)
#define STENO_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define STENO_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

// Functions that must melt into their caller (vector primitives, tiles): a call would pass vectors through memory.
#define STENO_INLINE [[gnu::always_inline]] inline
// Functions that run once for a file, a recording or a clip, or where something is reported: compiled for size, which
// halves their time to compile. What is done for each frame, token or hypothesis is none of them.
#define STENO_COLD [[gnu::cold, gnu::noinline]]
// Functions that are compiled where somebody calls them: templates with nothing to choose. g++ compiles the templates
// that an inline function names, even if nobody calls that function, so a unit would pay for what it only reads. It
// stands before functions and constructors that make or change containers, and before those that call them, in headers
// of more than one family; virtual functions and those of which the address is taken cannot have it.
// docs/compile-time.md says how to find out what a mark saves.
#define STENO_ON_CALL template <class = void>

// Whether flags promise parts of ARMv8.2 or later (kernels/isa/region_dotprod_begin.hpp).
#if defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_FP16_SCALAR_ARITHMETIC) || \
    defined(__ARM_FEATURE_COMPLEX) || defined(__ARM_FEATURE_SVE) || defined(__ARM_FEATURE_MATMUL_INT8)
#define STENO_PARTS_OF_ARMV8_2 1
#else
#define STENO_PARTS_OF_ARMV8_2 0
#endif

namespace steno {
inline namespace STENO_ABI {

namespace core {
/// A version of the library by its parts; a default-made one is that of these headers.
struct version_number {
  int major = STENO_VERSION_MAJOR;  ///< 0: a minor version may change what is promised (docs/stability.md)
  int minor = STENO_VERSION_MINOR;  ///< the inline namespace names it, too
  int patch = STENO_VERSION_PATCH;  ///< changes nothing that is promised
};
}  // namespace core
/// The version of these headers.
inline constexpr core::version_number version{};

}  // namespace STENO_ABI
}  // namespace steno
