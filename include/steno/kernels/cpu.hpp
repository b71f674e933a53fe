// steno/kernels/cpu.hpp - which instruction set the kernels use: the best one of this processor, or a lower one on
// demand.
//
// The processor is queried once; the answer is the library's only process-wide word. Where the compiler's own flags
// already guarantee the best set, it is a constant (never with AMX: the system has to grant its tiles). Tests and
// benchmarks lower the word with limit_isa() to reach the other kernels. Tested in tests/kernels/cpu_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Instruction sets of this architecture in rising order; each includes those before it, but for AVX-VNNI, which many
/// processors with AVX-512 lack: has_isa().
#if defined(__aarch64__)
/// neon: what every AArch64 processor has. neon_dotprod: + products of four int8 (sdot). neon_i8mm: + of int8 matrices.
enum class isa { scalar, neon, neon_dotprod, neon_i8mm };
inline constexpr isa isa_levels[] = {isa::scalar, isa::neon, isa::neon_dotprod, isa::neon_i8mm};

constexpr std::string_view name_of(isa level) {
  switch (level) {
    case isa::neon:
      return "neon";
    case isa::neon_dotprod:
      return "neon+dotprod";
    case isa::neon_i8mm:
      return "neon+i8mm";
    default:
      return "scalar";
  }
}
#elif defined(__wasm__)
/// simd128: WebAssembly's vectors, which a program has or has not when it is compiled; without fused multiply-add.
enum class isa { scalar, simd128 };
inline constexpr isa isa_levels[] = {isa::scalar, isa::simd128};

constexpr std::string_view name_of(isa level) { return level == isa::simd128 ? "simd128" : "scalar"; }
#else
/// avx2: avx2 fma f16c. avxvnni: + avxvnni. avx512: avx2 + f bw vl dq. avx512vnni: + vnni. amx: + vbmi, tiles of
/// bfloat16 and int8.
enum class isa { scalar, avx2, avxvnni, avx512, avx512vnni, amx };
inline constexpr isa isa_levels[] = {isa::scalar, isa::avx2, isa::avxvnni, isa::avx512, isa::avx512vnni, isa::amx};

constexpr std::string_view name_of(isa level) {
  switch (level) {
    case isa::avx2:
      return "avx2";
    case isa::avxvnni:
      return "avxvnni";
    case isa::avx512:
      return "avx512";
    case isa::avx512vnni:
      return "avx512vnni";
    case isa::amx:
      return "amx";
    default:
      return "scalar";
  }
}
#endif
/// The highest of them, and the lowest with vector kernels (all from there on have fused multiply-add, but simd128).
inline constexpr isa highest_isa = isa_levels[std::size(isa_levels) - 1], lowest_vector_isa = isa_levels[1];

namespace detail {
/// The set that this unit's compiler flags promise.
constexpr isa promised_isa() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && \
    defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#if defined(__AVX512VNNI__)
  return isa::avx512vnni;
#else
  return isa::avx512;
#endif
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#if defined(__AVXVNNI__)
  return isa::avxvnni;
#else
  return isa::avx2;
#endif
#elif defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_DOTPROD)
  return isa::neon_i8mm;
#elif defined(__ARM_FEATURE_DOTPROD)
  return isa::neon_dotprod;
#elif defined(__aarch64__)
  return isa::neon;
#elif defined(__wasm_simd128__)
  return isa::simd128;
#else
  return isa::scalar;
#endif
}

#if defined(__x86_64__)
/// Whether the processor has the tiles and the system lets this process use them: Linux wants one request, since
/// every thread's signal frames grow by 8 KiB, and refuses where an alternate signal stack is too small for that.
inline bool tiles_are_granted() noexcept {
#if defined(__linux__) && defined(SYS_arch_prctl)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned vbmi = 1u << 1, bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (c & vbmi) == 0 || (d & bf16) == 0 || (d & tile) == 0 ||
      (d & int8) == 0)
    return false;
  constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, which older headers lack
  return ::syscall(SYS_arch_prctl, request, tile_data) == 0;
#else
  return false;
#endif
}
#endif

/// Whether a processor with AVX2 has AVX-VNNI.
inline bool query_avxvnni() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1u) != 0;
#else
  return false;
#endif
}

inline isa query_processor() noexcept {
#if defined(__x86_64__)
  // The builtin also checks that the system saves the registers; f16c is not in clang 14's list, so its bit is read
  // here.
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1u) != 0;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !f16c) return isa::scalar;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
    return query_avxvnni() ? isa::avxvnni : isa::avx2;
  if (!__builtin_cpu_supports("avx512vnni")) return isa::avx512;
  return tiles_are_granted() ? isa::amx : isa::avx512vnni;
#elif defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long hwcap_asimddp = 1ul << 20, hwcap2_i8mm = 1ul << 13;  // older headers lack the names
  if ((::getauxval(AT_HWCAP) & hwcap_asimddp) == 0) return isa::neon;
  return (::getauxval(AT_HWCAP2) & hwcap2_i8mm) != 0 ? isa::neon_i8mm : isa::neon_dotprod;
#elif defined(__aarch64__) && defined(__APPLE__)
  const auto has = [](const char* name) {
    int yes = 0;
    std::size_t size = sizeof yes;
    return ::sysctlbyname(name, &yes, &size, nullptr, 0) == 0 && yes != 0;
  };
  if (!has("hw.optional.arm.FEAT_DotProd")) return isa::neon;
  return has("hw.optional.arm.FEAT_I8MM") ? isa::neon_i8mm : isa::neon_dotprod;
#else
  return promised_isa();
#endif
}

inline std::atomic<int> isa_word{-1};  // -1: not chosen yet
}  // namespace detail

/// The best set of this processor that the library has kernels for.
inline isa best_isa() noexcept {
  if constexpr (detail::promised_isa() == highest_isa) return highest_isa;
  static const isa best = std::max(detail::promised_isa(), detail::query_processor());
  return best;
}

/// Whether this processor has the set.
inline bool has_isa(isa level) noexcept {
#if defined(__x86_64__)
  static const bool avxvnni = best_isa() == isa::avxvnni || (best_isa() > isa::avxvnni && detail::query_avxvnni());
  if (level == isa::avxvnni) return avxvnni;
#endif
  return level <= best_isa();
}

/// The set that kernels use now. Safe from any thread.
inline isa active_isa() noexcept {
  const int word = detail::isa_word.load(std::memory_order_relaxed);
  return word < 0 ? best_isa() : static_cast<isa>(word);
}

/// Uses `level` from now on, or the highest set below it that the processor has. For tests and benchmarks; not while
/// others run.
inline void limit_isa(isa level) noexcept {
  level = std::min(level, best_isa());
  while (!has_isa(level)) level = static_cast<isa>(static_cast<int>(level) - 1);
  detail::isa_word.store(static_cast<int>(level), std::memory_order_relaxed);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
