// steno/kernels/bfloat_tiles.hpp - products of numbers that are sums of bfloat16 numbers, in tiles (AMX, tdpbf16ps).
//
// A tile instruction multiplies 16 rows by 16 columns, 32 values deep, sixteen times as fast as float multiply-adds.
// Its factors have 8 bits, so numbers are written as sums of such factors (bfloat_terms.hpp). The products of small
// terms do not matter and are left out. While tiles work, float instructions on 512 bits run at half their rate. For
// product/amx.hpp and bfloat_attention.hpp, with whose kernels it is tested (tests/kernels/product_test.cpp,
// attention_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <steno/kernels/bfloat_terms.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_amx_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::amx {

using avx512::f32x16, avx512::load, avx512::load_n, avx512::store, avx512::zero;
using avx512::tile_values, avx512::put_terms, avx512::split_rows, avx512::load_pairs, avx512::row_pairs;

inline constexpr extent tile_rows = 16;

/// `rows` pieces of so many lines of 64 bytes, `next` apart.
struct stored_part {
  const std::byte* from;
  std::size_t next;
  extent rows, lines;
};
/// Fetches a part line by line: many at once would hold up what tiles load.
class fetcher {
 public:
  fetcher(const stored_part& part, extent calls)
      : part_(part), left_(part.rows * part.lines), each_((left_ + calls - 1) / calls) {}
  /// The next of `calls` shares.
  STENO_INLINE void fetch() noexcept {
    for (extent n = std::min(each_, left_); n > 0; --n) {
      __builtin_prefetch(part_.from + static_cast<std::size_t>(line_) * 64, 0, 2);
      if (++line_ == part_.lines) {
        line_ = 0;
        part_.from += part_.next;
      }
    }
    left_ -= std::min(each_, left_);
  }

 private:
  stored_part part_;
  extent line_ = 0, left_, each_;
};

// --- tiles ---

#if defined(_WIN32) && !defined(__clang__)  // gcc 12 takes the distance as a long, which is half a register there
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#define _tile_loadd(tile, from, distance)                                                 \
  asm volatile("tileloadd\t(%0,%1,1), %%tmm" #tile ::"r"(static_cast<const void*>(from)), \
               "r"(static_cast<std::ptrdiff_t>(distance)))
#define _tile_stream_loadd(tile, from, distance)                                            \
  asm volatile("tileloaddt1\t(%0,%1,1), %%tmm" #tile ::"r"(static_cast<const void*>(from)), \
               "r"(static_cast<std::ptrdiff_t>(distance)))
#define _tile_stored(tile, to, distance)                                              \
  asm volatile("tilestored\t%%tmm" #tile ", (%0,%1,1)" ::"r"(static_cast<void*>(to)), \
               "r"(static_cast<std::ptrdiff_t>(distance))                             \
               : "memory")
#endif

/// What ldtilecfg reads.
struct alignas(64) tile_shapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
/// Tiles 0 to 3: sums of two panels by two groups; 4 and 5: x of the panels; 6 and 7: weights of the groups. All have
/// 16 rows: a lower panel's others meet what lies behind it, and nobody reads the results. Shapes are set once for a
/// task: it takes as long as many products.
STENO_INLINE void shape_tiles() noexcept {
  tile_shapes shapes;
  for (int t = 0; t < 8; ++t) {
    shapes.row_bytes[t] = 64;
    shapes.rows[t] = 16;
  }
  asm volatile("" ::"r"(&shapes) : "memory");  // gcc 12's _tile_loadconfig says that it reads eight bytes
  _tile_loadconfig(&shapes);
}

/// Two panels (or one) by two groups.
struct tile_job {
  const std::uint16_t* x[2];
  extent next_x[2];  // from term to term
  const std::uint16_t* weights;
  extent steps;
  float* sums[2];  // of each panel's first row
  extent sums_stride;
  bool first;  // sums begin here
  fetcher* fetch;
  fetcher* fetch_results;  // or null
};

/// Last: it is not loaded again soon, so the first cache is left to the weights.
template <int Panels, bool Last>
STENO_INLINE void load_x(const tile_job& job, const std::uint16_t* const* x, int term) {
  const std::uint16_t* const first = x[0] + term * job.next_x[0];
  const std::uint16_t* const second = x[1] + term * job.next_x[1];
  if constexpr (Last) {
    _tile_stream_loadd(4, first, 64);
    if constexpr (Panels == 2) _tile_stream_loadd(5, second, 64);
  } else {
    _tile_loadd(4, first, 64);
    if constexpr (Panels == 2) _tile_loadd(5, second, 64);
  }
}
STENO_INLINE void load_weights(const std::uint16_t* w, int term) {
  _tile_loadd(6, w + term * 2 * tile_values, 64);
  _tile_loadd(7, w + (term * 2 + 1) * tile_values, 64);
}
template <int Panels>
STENO_INLINE void multiply_add() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (Panels == 2) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}
/// Which terms of x and of the weights are multiplied: each product changes one side, so that half of the tiles need
/// not be loaded, and the largest one comes late.
struct factors {
  int x, w;
};
template <int XTerms, int Terms>
inline constexpr std::array<factors, 0> products_of{};
template <>
inline constexpr std::array<factors, 1> products_of<1, 1>{{{0, 0}}};
template <>
inline constexpr std::array<factors, 3> products_of<2, 2>{{{1, 0}, {0, 0}, {0, 1}}};
template <>
inline constexpr std::array<factors, 3> products_of<3, 1>{{{2, 0}, {1, 0}, {0, 0}}};
template <>
inline constexpr std::array<factors, 5> products_of<3, 2>{{{0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}};

/// Whether x of product n is in none of those that follow.
template <int XTerms, int Terms>
constexpr bool is_last(std::size_t n) {
  constexpr auto& all = products_of<XTerms, Terms>;
  const int x = all[n].x;
  while (++n < all.size())
    if (all[n].x == x) return false;
  return true;
}

template <int XTerms, int Terms, int Panels, std::size_t... I>
STENO_INLINE void multiply_step(std::index_sequence<I...>, const tile_job& job, const std::uint16_t* const* x,
                                const std::uint16_t* w) {
  constexpr auto& all = products_of<XTerms, Terms>;
  const auto multiply = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) __attribute__((always_inline)) {
    if constexpr (N == 0 || all[N].x != all[N - (N > 0)].x) load_x<Panels, is_last<XTerms, Terms>(N)>(job, x, all[N].x);
    if constexpr (N == 0 || all[N].w != all[N - (N > 0)].w) load_weights(w, all[N].w);
    multiply_add<Panels>();
  };
  (multiply(std::integral_constant<std::size_t, I>{}), ...);
}

alignas(64) inline constexpr float zeros[16] = {};

template <int XTerms, int Terms, int Panels>
[[gnu::noinline]] void bfloat_tiles(const tile_job& job) noexcept {
  const std::ptrdiff_t stride = job.sums_stride * 4;
  // A cleared tile (tilezero) would make the product into it wait for all products before it: zeros are loaded instead.
  const float* const from[] = {job.first ? zeros : job.sums[0], job.first ? zeros : job.sums[1]};
  const std::ptrdiff_t from_stride = job.first ? 0 : stride, second = job.first ? 0 : 16;
  _tile_loadd(0, from[0], from_stride);
  _tile_loadd(1, from[0] + second, from_stride);
  if constexpr (Panels == 2) {
    _tile_loadd(2, from[1], from_stride);
    _tile_loadd(3, from[1] + second, from_stride);
  }
  const std::uint16_t* x[] = {job.x[0], job.x[1]};
  const std::uint16_t* w = job.weights;
  for (extent i = 0; i < job.steps; ++i) {
    job.fetch->fetch();  // where it is: a copy would be read as a whole just after its parts were written
    if (job.fetch_results != nullptr) job.fetch_results->fetch();
    multiply_step<XTerms, Terms, Panels>(std::make_index_sequence<products_of<XTerms, Terms>.size()>{}, job, x, w);
    x[0] += XTerms * job.next_x[0];
    x[1] += XTerms * job.next_x[1];
    w += Terms * 2 * tile_values;
  }
  _tile_stored(0, job.sums[0], stride);
  _tile_stored(1, job.sums[0] + 16, stride);
  if constexpr (Panels == 2) {
    _tile_stored(2, job.sums[1], stride);
    _tile_stored(3, job.sums[1] + 16, stride);
  }
}

}  // namespace kernels::amx
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
