// steno/kernels/processor_family.hpp - what processors with the same instructions do not have in common: who made them
// decides which way is the fast one. No result but what is documented so depends on it.
//
// Tested in tests/kernels/cpu_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/cpu.hpp>

#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// amd: those without AVX-512, up to Zen 3. amd_zen5: and what follows it.
enum class processor_family { other, intel, amd, amd_zen4, amd_zen5 };

namespace detail {
/// From the twelve letters of cpuid leaf 0, whether the processor has AVX-512 (AMD's have from Zen 4 on), and the first
/// word of leaf 1, which holds its maker's number of the family.
constexpr processor_family processor_family_of(std::string_view vendor, bool avx512, unsigned signature) {
  if (vendor == "GenuineIntel") return processor_family::intel;
  if (vendor != "AuthenticAMD" && vendor != "HygonGenuine") return processor_family::other;
  constexpr unsigned zen5 = 0x1a;
  const unsigned base = signature >> 8 & 15, number = base == 15 ? base + (signature >> 20 & 255) : base;
  if (!avx512) return processor_family::amd;
  return number >= zen5 ? processor_family::amd_zen5 : processor_family::amd_zen4;
}
inline processor_family query_family() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, words[3] = {};
  if (__get_cpuid(0, &a, words, words + 2, words + 1) == 0) return processor_family::other;
  char vendor[12];
  for (std::size_t i = 0; i < sizeof vendor; ++i) vendor[i] = static_cast<char>(words[i / 4] >> 8 * (i % 4));
  unsigned b = 0, c = 0, d = 0;
  const bool avx512 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 16 & 1) != 0;
  unsigned signature = 0;
  if (__get_cpuid(1, &signature, &b, &c, &d) == 0) signature = 0;
  return processor_family_of({vendor, sizeof vendor}, avx512, signature);
#else
  return processor_family::other;
#endif
}
}  // namespace detail

/// This processor's. Queried once; safe from any thread.
inline processor_family this_family() noexcept {
  static const processor_family family = detail::query_family();
  return family;
}

namespace detail {
inline bool query_bfloat16() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const processor_family family = this_family();
  return (family == processor_family::amd_zen4 || family == processor_family::amd_zen5) &&
         __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 5 & 1) != 0;
#else
  return false;
#endif
}
/// What the processor says, whatever instruction set is in use.
inline bool multiplies_bfloats_fast() noexcept {
  static const bool fast = query_bfloat16();
  return fast;
}
}  // namespace detail

/// Whether vdpbf16ps multiplies bfloat16 numbers twice as fast as floats are, and the instruction set in use reaches so
/// far: AMD's from Zen 4 on. (Intel's do so no faster than floats, but have tiles.)
inline bool has_fast_bfloat16() noexcept {
#if defined(__x86_64__)
  return detail::multiplies_bfloats_fast() && active_isa() >= isa::avx512vnni;
#else
  return false;
#endif
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
