// steno/weights/blocks/quantise_k.hpp - float values to q4_k, q5_k and q6_k blocks.
//
// Each group of 32 (16) values gets the scale and minimum (the scale) that fit it best: a search over rounding steps
// around the plain one, least squares with weights for each set of levels. The groups' numbers are then rounded to
// six-bit (eight-bit) multiples of the block's, and the levels chosen anew for those. Follows quantize_row_q4_K_ref,
// quantize_row_q5_K_ref and quantize_row_q6_K_ref of ggml-quants.c. Tested in tests/weights/blocks_test.cpp (no row
// loses more than ggml's).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/blocks/quantise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

/// Nearest integer, halves to even, between two limits.
inline int level_of(float v, int least, int highest) {
  return std::clamp(static_cast<int>(std::lrint(v)), least, highest);
}
/// Throws when one of the values is not finite or too large for a scale in half precision, about a `steps`th of it.
inline void check_range(const float* x, float steps, std::string_view format) {
  for (int i = 0; i < 256; i += 32) {
    const std::int32_t largest = largest_magnitude(x + i);
    (void)checked_scale(largest, core::bit_cast<float>(largest) / steps, format);
  }
}

/// How the scale of a group is searched for: levels 0..highest, and inverse scales of so many levels around it, a tenth
/// apart from `first` on.
struct level_search {
  int highest;  ///< 15 or 31
  float first;  ///< first of the steps, counted from `highest`
  int steps;    ///< how many steps follow the first
};
inline constexpr level_search q4_k_search{15, -1.0f, 20};  ///< ggml's for q4_k
inline constexpr level_search q5_k_search{31, -0.5f, 15};  ///< ggml's for q5_k

/// x[i] ~ scale * level + minimum with minimum <= 0.
struct affine {
  float scale;    ///< step between levels
  float minimum;  ///< value of level 0
};
/// In double: candidates may be equally good but for what float rounds, and the wrong one loses a whole row.
inline affine fit_affine(const float (&x)[32], const level_search& search) {
  const auto highest_level = static_cast<float>(search.highest);
  double squares = 0, weight[32];
  float least = x[0], highest = x[0];
  for (const float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  const double mean = std::sqrt(squares / 32);
  double sum_w = 0, sum_x = 0;
  for (int i = 0; i < 32; ++i) {
    weight[i] = mean + static_cast<double>(std::fabs(x[i]));
    least = std::min(least, x[i]);
    highest = std::max(highest, x[i]);
    sum_w += weight[i];
    sum_x += weight[i] * static_cast<double>(x[i]);
  }
  least = std::min(least, 0.0f);
  if (highest == least) return {0, least};
  affine best{1 / (highest_level / (highest - least)), least};
  // From the best minimum so far, as the original goes on from it.
  const auto levels_for = [&](float steps, int(&level)[32]) {
    const float inverse = steps / (highest - best.minimum);
    for (int i = 0; i < 32; ++i) level[i] = level_of(inverse * (x[i] - best.minimum), 0, search.highest);
  };
  const auto error_of = [&](const affine& a, const int(&level)[32]) {
    double error = 0;
    for (int i = 0; i < 32; ++i) {
      const double d =
          static_cast<double>(a.scale) * level[i] + static_cast<double>(a.minimum) - static_cast<double>(x[i]);
      error += weight[i] * (d * d);
    }
    return error;
  };
  int level[32];
  levels_for(highest_level, level);
  double lowest = error_of(best, level);
  for (int step = 0; step <= search.steps && highest > best.minimum; ++step) {
    levels_for(search.first + 0.1f * static_cast<float>(step) + highest_level, level);
    double sum_l = 0, sum_ll = 0, sum_xl = 0;
    for (int i = 0; i < 32; ++i) {
      const double l = level[i];
      sum_l += weight[i] * l;
      sum_ll += weight[i] * l * l;
      sum_xl += weight[i] * l * static_cast<double>(x[i]);
    }
    const double determinant = sum_w * sum_ll - sum_l * sum_l;
    if (!(determinant > 0)) continue;
    affine a{static_cast<float>((sum_w * sum_xl - sum_x * sum_l) / determinant),
             static_cast<float>((sum_ll * sum_x - sum_l * sum_xl) / determinant)};
    if (a.minimum > 0) a = {static_cast<float>(sum_xl / sum_ll), 0};
    const double error = error_of(a, level);
    if (error < lowest) {
      lowest = error;
      best = a;
    }
  }
  return best;
}

/// Levels of 32 values for a scale and a minimum as they will be read, and what they lose: a sum of squares.
inline double choose_levels(const float* x, float scale, float minimum, int highest, int (&level)[32]) {
  double lost = 0;
  for (int i = 0; i < 32; ++i) {
    level[i] = scale == 0 ? 0 : level_of((x[i] + minimum) / scale, 0, highest);
    const double d = static_cast<double>(scale * static_cast<float>(level[i]) - minimum) - static_cast<double>(x[i]);
    lost += d * d;
  }
  return lost;
}

/// The scales and minima of a q4_k or q5_k block; `level` gets the levels, 32 for each of the eight groups.
template <class Block>
void write_groups(const float* x, const level_search& search, std::string_view format, Block& b, int (&level)[8][32]) {
  check_range(x, static_cast<float>(search.highest * 63), format);
  affine fits[8];
  float scale = 0, minimum = 0;
  for (int g = 0; g < 8; ++g) {
    float group[32];
    std::memcpy(group, x + 32 * g, sizeof group);
    fits[g] = fit_affine(group, search);
    scale = std::max(scale, fits[g].scale);
    minimum = std::max(minimum, -fits[g].minimum);
  }
  const float to_scale = scale > 0 ? 63.0f / scale : 0, to_minimum = minimum > 0 ? 63.0f / minimum : 0;
  const auto largest = core::bit_cast<std::int32_t>(scale);
  set_scale(b.d, checked_scale(largest, scale / 63.0f, format));
  set_scale(b.dmin, checked_scale(largest, minimum / 63.0f, format));
  std::memset(b.s, 0, sizeof b.s);
  for (int g = 0; g < 8; ++g) {
    // The six-bit multiples next to the best scale and minimum: the nearest ones are not always the best pair, least of
    // all where one stands in the middle.
    const float near_s = to_scale * fits[g].scale, near_m = to_minimum * -fits[g].minimum;
    const int first_s = level_of(near_s, 0, 63), first_m = level_of(near_m, 0, 63);
    const int other_s = std::clamp(near_s > static_cast<float>(first_s) ? first_s + 1 : first_s - 1, 0, 63);
    const int other_m = std::clamp(near_m > static_cast<float>(first_m) ? first_m + 1 : first_m - 1, 0, 63);
    int s = 0, m = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const int try_s : {first_s, other_s})
      for (const int try_m : {first_m, other_m}) {
        int tried[32];
        const double lost = choose_levels(x + 32 * g, scale_at(b.d) * static_cast<float>(try_s),
                                          scale_at(b.dmin) * static_cast<float>(try_m), search.highest, tried);
        if (!(lost < least)) continue;
        least = lost;
        s = try_s;
        m = try_m;
        std::memcpy(level[g], tried, sizeof tried);
      }
    if (g < 4) {
      b.s[g] = static_cast<std::uint8_t>(b.s[g] | s);
      b.s[g + 4] = static_cast<std::uint8_t>(m);
    } else {
      b.s[g + 4] = static_cast<std::uint8_t>((s & 15) | (m & 15) << 4);
      b.s[g - 4] = static_cast<std::uint8_t>(b.s[g - 4] | (s >> 4) << 6);
      b.s[g] = static_cast<std::uint8_t>(b.s[g] | (m >> 4) << 6);
    }
  }
}
/// The four low bits of eight groups' levels: groups 2 p and 2 p + 1 share bytes.
inline void put_group_nibbles(const int (&level)[8][32], std::uint8_t (&q)[128]) {
  for (int g = 0; g < 8; g += 2)
    for (int l = 0; l < 32; ++l)
      q[16 * g + l] = static_cast<std::uint8_t>((level[g][l] & 15) | (level[g + 1][l] & 15) << 4);
}

inline void write_block(const float* x, q4_k& b) {
  int level[8][32] = {};
  write_groups(x, q4_k_search, "q4_k", b, level);
  put_group_nibbles(level, b.q);
}
inline void write_block(const float* x, q5_k& b) {
  int level[8][32] = {};
  write_groups(x, q5_k_search, "q5_k", b, level);
  put_group_nibbles(level, b.q);
  for (int l = 0; l < 32; ++l) {
    int fifth = 0;
    for (int g = 0; g < 8; ++g) fifth |= level[g][l] >> 4 << g;
    b.high[l] = static_cast<std::uint8_t>(fifth);
  }
}

/// x[i] ~ scale * level with levels -32..31; the scale may be negative.
inline float fit_scale(const float* x) {
  float extreme = 0;
  for (int i = 0; i < 16; ++i)
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  if (std::fabs(extreme) < 1e-15f) return 0;
  float best = 0, scale = 0;
  const auto attempt = [&](float inverse, bool first) {
    float sum_xl = 0, sum_ll = 0;
    for (int i = 0; i < 16; ++i) {
      const auto l = static_cast<float>(level_of(inverse * x[i], -32, 31));
      const float w = x[i] * x[i];
      sum_xl += w * x[i] * l;
      sum_ll += w * l * l;
    }
    if (!first && !(sum_ll > 0 && sum_xl * sum_xl > best * sum_ll)) return;
    scale = sum_ll > 0 ? sum_xl / sum_ll : 0;
    best = scale * sum_xl;
  };
  attempt(-32 / extreme, true);
  for (int step = -9; step <= 9; ++step)
    if (step != 0) attempt(-(32 + 0.1f * static_cast<float>(step)) / extreme, false);
  return scale;
}

inline void write_block(const float* x, q6_k& b) {
  check_range(x, 32 * 128, "q6_k");
  float scales[16], extreme = 0;
  for (int g = 0; g < 16; ++g) {
    scales[g] = fit_scale(x + 16 * g);
    if (std::fabs(scales[g]) > std::fabs(extreme)) extreme = scales[g];
  }
  std::memset(&b, 0, sizeof b);
  if (std::fabs(extreme) < 1e-15f) return;
  const float inverse = -128.0f / extreme;
  set_scale(b.d, checked_scale(0, 1 / inverse, "q6_k"));
  for (int g = 0; g < 16; ++g) {
    b.s[g] = static_cast<std::int8_t>(std::min(127, static_cast<int>(std::lrint(inverse * scales[g]))));
    const float d = scale_at(b.d) * static_cast<float>(b.s[g]);
    const int half = g / 8, j = g / 2 % 4, k = g % 2;
    for (int l = 0; l < 16; ++l) {
      // Where a group's scale rounds to nothing the levels do not matter.
      const int level = (d == 0 ? 0 : level_of(x[16 * g + l] / d, -32, 31)) + 32;
      std::uint8_t& low = b.low[64 * half + 32 * (j & 1) + 16 * k + l];
      std::uint8_t& high = b.high[32 * half + 16 * k + l];
      low = static_cast<std::uint8_t>(low | (level & 15) << (4 * (j / 2)));
      high = static_cast<std::uint8_t>(high | (level >> 4) << (2 * j));
    }
  }
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
