// bench/peaks.hpp - what this processor can do at most, measured once per process by its processor time: float
// multiply-adds, int8 dot products and memory reads of one thread. Benchmarks report fractions of these.
#pragma once
#include <steno/kernels/cpu.hpp>

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace steno_bench {

/// Operations (a multiply-add is two) and bytes per second of one thread; 0 where the processor has no such instruction.
struct peaks {
  double fma = 0, int8 = 0, read = 0;
};

namespace detail {
inline double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
/// Best rate of some runs.
template <class F>
double best_rate(double work, int runs, F f) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const double from = thread_seconds();
    f();
    best = std::min(best, thread_seconds() - from);
  }
  return work / best;
}

#if defined(__x86_64__)
inline constexpr long rounds = 1'000'000;

// Written out: an array of accumulators would be spilled or copied by some compilers.
#define STENO_BENCH_TWELVE(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)

#include <steno/kernels/isa/region_avx2_begin.hpp>
inline void fma_256() {
#define STENO_BENCH_OP(i) __m256 a##i = _mm256_set1_ps(1e-3f);
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
/// Four streams a quarter of the memory apart.
inline void read_256(const std::byte* p, std::size_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  const std::size_t quarter = bytes / 4;
  // [&]: a lambda that captures nothing also is a plain function, whose vector result the base instruction set cannot return
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

#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
inline void fma_512() {
#define STENO_BENCH_OP(i) __m512 a##i = _mm512_set1_ps(1e-3f);
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
#define STENO_BENCH_OP(i) __m512i a##i = _mm512_setzero_si512();
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
#undef STENO_BENCH_TWELVE
#endif

inline peaks measure() {
  peaks p;
#if defined(__x86_64__)
  using steno::kernels::isa;
  const isa best = steno::kernels::best_isa();
  constexpr double work = 2.0 * 12 * static_cast<double>(rounds);
  if (best >= isa::avx512) {
    p.fma = best_rate(16 * work, 25, fma_512);
  } else if (best >= isa::avx2) {
    p.fma = best_rate(8 * work, 25, fma_256);
  }
  if (best >= isa::avx512vnni) p.int8 = best_rate(64 * work, 25, dot_512);
  if (best >= isa::avx2) {
    constexpr std::size_t bytes = std::size_t{256} << 20, line = 64;
    auto* memory = static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{line}));
    std::fill(memory, memory + bytes, std::byte{1});
    p.read = best_rate(static_cast<double>(bytes), 7, [&] { read_256(memory, bytes); });
    ::operator delete[](memory, std::align_val_t{line});
  }
#endif
  return p;
}
}  // namespace detail

inline const peaks& machine() {
  static const peaks measured = detail::measure();
  return measured;
}

}  // namespace steno_bench
