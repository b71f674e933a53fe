// bench/support/peaks.hpp - what one thread of this processor can do at most, at this moment: float multiply-adds, int8
// and bfloat16 dot products (a multiply-add is two operations) and memory reads per second; 0 where it has no such
// instruction. The clock moves with load and heat, so a fraction of the peak is a ratio of two things measured one
// right after the other: measure.hpp does that.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/processor_family.hpp>
#include <steno/weights/storage.hpp>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace steno_bench {

namespace detail {
/// By the wall: a virtual machine's processor time leaves out what its host took, and so the best of many runs is too
/// good.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Best rate of some runs.
template <class F>
double best_rate(double work, int runs, F f) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const double from = now();
    f();
    best = std::min(best, now() - from);
  }
  return work / best;
}

#if defined(__x86_64__)
inline constexpr long rounds = 500'000;

// Written out: an array of accumulators would be spilled or copied by some compilers. Their beginnings are hidden from
// the compiler, which would keep one of twelve equal chains.
#define STENO_BENCH_TWELVE(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)

#include <steno/kernels/isa/region_avx2_begin.hpp>
inline void fma_256() {
#define STENO_BENCH_OP(i)              \
  __m256 a##i = _mm256_set1_ps(1e-3f); \
  asm volatile("" : "+x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-6f);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+x"(x), "+x"(y));
#define STENO_BENCH_OP(i) a##i = _mm256_fmadd_ps(a##i, x, y);
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
/// Products of u8 and s8 in fours, as long as no dot instruction is there: three instructions.
inline void dot_256() {
#define STENO_BENCH_OP(i)                \
  __m256i a##i = _mm256_setzero_si256(); \
  asm volatile("" : "+x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m256i x = _mm256_set1_epi8(1), one = _mm256_set1_epi16(1);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+x"(x), "+x"(one));
#define STENO_BENCH_OP(i) a##i = _mm256_add_epi32(a##i, _mm256_madd_epi16(_mm256_maddubs_epi16(x, a##i), one));
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
/// Four streams a quarter of the memory apart.
inline void read_256(const std::byte* p, std::size_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  const std::size_t quarter = bytes / 4;
  // [&]: a lambda that captures nothing also is a plain function, whose vector result the base instruction set cannot
  // return
  const auto at = [&](const std::byte* q) __attribute__((always_inline)) {
    return _mm256_or_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(q)),
                           _mm256_load_si256(reinterpret_cast<const __m256i*>(q + 32)));
  };
  for (std::size_t i = 0; i < quarter; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(p + i + 2048), _MM_HINT_T0);
    a = _mm256_or_si256(a, at(p + i));
    b = _mm256_or_si256(b, at(p + quarter + i));
    c = _mm256_or_si256(c, at(p + 2 * quarter + i));
    d = _mm256_or_si256(d, at(p + 3 * quarter + i));
  }
  asm volatile("" ::"x"(a), "x"(b), "x"(c), "x"(d));
}
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avxvnni_begin.hpp>
inline void dot_256_vnni() {
#define STENO_BENCH_OP(i)                \
  __m256i a##i = _mm256_setzero_si256(); \
  asm volatile("" : "+x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m256i x = _mm256_set1_epi8(1), y = _mm256_set1_epi8(1);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+x"(x), "+x"(y));
#define STENO_BENCH_OP(i) a##i = _mm256_dpbusd_avx_epi32(a##i, x, y);
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"x"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
inline void fma_512() {
#define STENO_BENCH_OP(i)              \
  __m512 a##i = _mm512_set1_ps(1e-3f); \
  asm volatile("" : "+v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-6f);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+v"(x), "+v"(y));
#define STENO_BENCH_OP(i) a##i = _mm512_fmadd_ps(a##i, x, y);
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
inline void dot_512() {
#define STENO_BENCH_OP(i)                \
  __m512i a##i = _mm512_setzero_si512(); \
  asm volatile("" : "+v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m512i x = _mm512_set1_epi8(1), y = _mm512_set1_epi8(1);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+v"(x), "+v"(y));
#define STENO_BENCH_OP(i) a##i = _mm512_dpbusd_epi32(a##i, x, y);
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avx512bf16_begin.hpp>
inline void dot_512_bfloat() {
#define STENO_BENCH_OP(i)            \
  __m512 a##i = _mm512_setzero_ps(); \
  asm volatile("" : "+v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-6f);
  for (long n = 0; n < rounds; ++n) {
    asm volatile("" : "+v"(x), "+v"(y));
#define STENO_BENCH_OP(i) asm("vdpbf16ps\t%2, %1, %0" : "+v"(a##i) : "v"(x), "v"(y));
    STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
  }
#define STENO_BENCH_OP(i) asm volatile("" ::"v"(a##i));
  STENO_BENCH_TWELVE(STENO_BENCH_OP)
#undef STENO_BENCH_OP
}
#include <steno/kernels/isa/region_end.hpp>
#undef STENO_BENCH_TWELVE
#endif
}  // namespace detail

/// Bytes of which a turn through all of them finds none in a cache.
inline std::size_t cold_bytes() {
  std::size_t cache = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (const long size = ::sysconf(_SC_LEVEL3_CACHE_SIZE); size > 0) cache = static_cast<std::size_t>(size);
#endif
  return std::max(std::size_t{256} << 20, 2 * cache);
}

namespace detail {
/// Memory that no cache holds, written once; like weights on huge pages, where the system has them.
inline const std::byte* large_memory(std::size_t bytes) {
  static steno::weights::storage storage;
  static const std::byte* const memory = [&] {
    std::byte* m = storage.allocate(bytes);
    std::fill(m, m + bytes, std::byte{1});
    return m;
  }();
  return memory;
}
}  // namespace detail

/// Rates of this moment, each from the best of three bursts of about a millisecond (reading: of 64 MiB each). Peaks are
/// those of the instruction set in use.
inline double fma_rate() {
#if defined(__x86_64__)
  const steno::kernels::isa level = steno::kernels::active_isa();
  constexpr double work = 2.0 * 12 * static_cast<double>(detail::rounds);
  if (level >= steno::kernels::isa::avx512) return detail::best_rate(16 * work, 3, detail::fma_512);
  if (level >= steno::kernels::isa::avx2) return detail::best_rate(8 * work, 3, detail::fma_256);
#endif
  return 0;
}
/// Of bfloat16 numbers where vdpbf16ps is faster than floats are, else of floats.
inline double bfloat_rate() {
#if defined(__x86_64__)
  constexpr double work = 2.0 * 12 * static_cast<double>(detail::rounds);
  if (steno::kernels::has_fast_bfloat16()) return detail::best_rate(32 * work, 3, detail::dot_512_bfloat);
#endif
  return fma_rate();
}
inline double int8_rate() {
#if defined(__x86_64__)
  constexpr double work = 2.0 * 12 * static_cast<double>(detail::rounds);
  const steno::kernels::isa level = steno::kernels::active_isa();
  if (level >= steno::kernels::isa::avx512vnni) return detail::best_rate(64 * work, 3, detail::dot_512);
  if (level == steno::kernels::isa::avxvnni) return detail::best_rate(32 * work, 3, detail::dot_256_vnni);
  if (level >= steno::kernels::isa::avx2) return detail::best_rate(32 * work, 3, detail::dot_256);
#endif
  return 0;
}
inline double read_rate() {
#if defined(__x86_64__)
  constexpr std::size_t burst = std::size_t{64} << 20;
  static const std::size_t bytes = cold_bytes() / burst * burst;
  static std::size_t at = 0;
  if (steno::kernels::best_isa() >= steno::kernels::isa::avx2) {
    const std::byte* memory = detail::large_memory(bytes);
    return detail::best_rate(static_cast<double>(burst), 3, [&] {
      detail::read_256(memory + at, burst);
      at = (at + burst) % bytes;
    });
  }
#endif
  return 0;
}

}  // namespace steno_bench
