// steno/kernels/read_ahead.hpp - how far ahead a product of few rows fetches its weights, and into which cache: data of
// a family of processors.
//
// So few rows wait for memory, and what a core can wait for at once depends on its family. The values are found by
// bench/tune/read_ahead.cpp, which prints a row of the table below; nothing is tuned at run time, and no result depends
// on them. Tested in tests/kernels/cpu_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/processor_family.hpp>

#include <cstddef>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Into which cache a line is fetched: `first`, or no nearer than `second`.
enum class cache_level : unsigned char { first, second };

struct read_ahead {
  struct of_blocks {
    std::size_t bytes;  ///< a line is fetched so many bytes before it is read
    cache_level into;
    int streams;  ///< groups of 16 columns that one row takes at once: 1 or 2

    /// Blocks that lie between a line and the one that is fetched with it, each of `size` bytes: whole units of so many
    /// blocks, and one at least, however large.
    constexpr std::size_t blocks(std::size_t size, std::size_t unit) const {
      const std::size_t units = bytes / (unit * size);
      return (units == 0 ? 1 : units) * unit;
    }
    bool operator==(const of_blocks&) const = default;
  };
  of_blocks eight_bits, fewer_bits;  ///< of block formats
  std::size_t halves;                ///< of f16 and bf16: bytes, into the second cache

  /// Of block formats with so many bits in a packed quant.
  constexpr const of_blocks& blocks(int bits) const { return bits == 8 ? eight_bits : fewer_bits; }
  bool operator==(const read_ahead&) const = default;
};

struct read_ahead_entry {
  processor_family family;
  read_ahead ahead;
};
/// One for each family; the first is for those that nobody has measured.
inline constexpr read_ahead_entry read_ahead_table[] = {
    // Within 3 % of the best on the Xeon below, and in the middle of what Zen 4 takes alike.
    {processor_family::other, {{3072, cache_level::second, 2}, {3072, cache_level::second, 2}, 3072}},
    // Xeon of the Granite Rapids generation: on huge pages 96 to 108 % of the rate of a loop that only reads. Two
    // streams are 1.05 to 1.25 times as fast as one; 4 KiB ahead and more is slower.
    {processor_family::intel, {{2048, cache_level::first, 2}, {2048, cache_level::first, 2}, 3072}},
    // Without AVX-512. Zen 3 (family 25 model 1): within 2 % of its best, as are all distances and both hints; two
    // streams are 1.15 to 1.2 times as fast as one.
    {processor_family::amd, {{4096, cache_level::second, 2}, {4096, cache_level::second, 2}, 4096}},
    // Zen 4 (family 25 model 17): a line on its way to the first cache holds one of its 24 miss buffers for all of the
    // way to memory, one on its way to the second does not. Eight bits: more than 48 lines under way are slower, 4 KiB
    // in two streams by a fifth. Fewer bits are read in one stream, and further ahead, 0.95 to 1.3 times as fast.
    {processor_family::amd_zen4, {{1536, cache_level::second, 2}, {8192, cache_level::second, 1}, 3072}},
    // Zen 5 (family 26 model 2): the first cache and two streams are best, or within 5 % of it, for every format but
    // those of five and six bits at the AVX2 level, which take one stream alike. 81 to 106 % of the reading rate.
    {processor_family::amd_zen5, {{3072, cache_level::first, 2}, {4096, cache_level::first, 2}, 3072}},
};

constexpr const read_ahead& read_ahead_of(processor_family family) {
  for (const read_ahead_entry& entry : read_ahead_table)
    if (entry.family == family) return entry.ahead;
  return read_ahead_table[0].ahead;
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
