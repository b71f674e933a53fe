// steno/config.hpp - version, and the inline namespace that keeps translation units with different flags apart.
//
// Every header opens `namespace steno::inline STENO_ABI`. The name encodes the version and the instruction set that the
// compiler's own flags guarantee, so two units built with different -m flags never share a symbol (tests/odr).
#pragma once

#define STENO_VERSION_MAJOR 0
#define STENO_VERSION_MINOR 1
#define STENO_VERSION_PATCH 0

#if defined(__AVX512F__) && defined(__AVX512VNNI__)
#define STENO_ABI v0_1_avx512vnni
#elif defined(__AVX512F__)
#define STENO_ABI v0_1_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define STENO_ABI v0_1_avx2
#elif defined(__AVX__)
#define STENO_ABI v0_1_avx
#else
#define STENO_ABI v0_1_base
#endif

// Functions that must melt into their caller (vector primitives, tiles): a call would pass vectors through memory.
#define STENO_INLINE [[gnu::always_inline]] inline

namespace steno::inline STENO_ABI {

struct version_number {
  int major = STENO_VERSION_MAJOR, minor = STENO_VERSION_MINOR, patch = STENO_VERSION_PATCH;
};
inline constexpr version_number version{};

}  // namespace steno::inline STENO_ABI
