// tests/kernels/product_support.hpp - stored matrices of each product format made of random numbers, with their values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/half.hpp>
#include <steno/core/view.hpp>
#include <steno/kernels/product.hpp>
#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

namespace steno_test {
using namespace steno;

inline matrix<float, dynamic, dynamic> random_matrix(extent rows, extent cols, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> gauss;
  matrix<float, dynamic, dynamic> m(rows, cols);
  for (extent i = 0; i < m.size(); ++i) m.data()[i] = gauss(engine);
  return m;
}

/// Where the half-precision numbers of a block stand: scales first, then minima; -1: none.
struct half_places {
  int scale, minimum;
};
inline half_places halves_of(dtype format) {
  switch (format) {
    case dtype::q4_1:
    case dtype::q5_1:
    case dtype::q4_k:
    case dtype::q5_k:
      return {0, 2};
    case dtype::q2_k:
      return {80, 82};
    case dtype::q3_k:
      return {108, -1};
    case dtype::q6_k:
      return {208, -1};
    default:
      return {0, -1};
  }
}

/// A weight of values of about 1 in a stored format: N(0, 1), or (block formats but q8_0) blocks of random bits, its
/// bytes at an odd address when that is allowed (no alignment promised).
struct stored_matrix {
  stored_matrix(dtype format_, extent rows, extent cols, unsigned seed, std::size_t offset = 0)
      : format(format_), values(random_matrix(rows, cols, seed)) {
    const std::size_t row_bytes = core::bytes_of(format, static_cast<std::size_t>(cols));
    memory.resize(row_bytes * static_cast<std::size_t>(rows) + offset);
    bytes = memory.data() + offset;
    for (extent r = 0; r < rows; ++r) store_row(r, bytes + static_cast<std::size_t>(r) * row_bytes);
  }
  weights::weight_ref ref() const {
    return {bytes, packed.empty() ? nullptr : packed.data(), format, values.rows(), values.cols()};
  }
  /// Of what is packed nothing else is left: loading gives the stored bytes back to the system.
  void pack() {
    std::vector<std::byte> to(kernels::packed_bytes(ref()));
    kernels::pack(ref(), to.data(), executor());
    packed = to;
    if (!packed.empty()) std::fill(memory.begin(), memory.end(), std::byte{0xff});
  }

  dtype format;
  matrix<float, dynamic, dynamic> values;  // what the stored bytes mean
  std::vector<std::byte> memory, packed;
  std::byte* bytes = nullptr;

 private:
  void store_row(extent r, std::byte* to) {
    float* v = values.data() + r * values.cols();
    for (extent k = 0; k < values.cols(); ++k) {
      if (format == dtype::f32) std::memcpy(to + 4 * k, v + k, 4);
      if (format == dtype::f16 || format == dtype::bf16 || format == dtype::bf16_a16) {
        const std::uint16_t h = format == dtype::f16 ? core::float_to_half(v[k]) : core::float_to_bfloat(v[k]);
        std::memcpy(to + 2 * k, &h, 2);
        v[k] = format == dtype::f16 ? core::half_to_float(h) : core::bfloat_to_float(h);
      }
    }
    const bool bytes_and_scale = format == dtype::q8_0 || format == dtype::q8_128;
    if (kernels::is_int8(kernels::family_of(format)) && !bytes_and_scale) {
      std::mt19937 engine(static_cast<unsigned>(r * 77 + values.cols()));
      const core::dtype_info block = core::info(format);
      const std::size_t size = core::bytes_of(format, static_cast<std::size_t>(values.cols()));
      const half_places places = halves_of(format);
      // Scales that make values of about 1, half of them negative; minima that move about half of them below zero.
      const int steps = format == dtype::iq4_nl ? 127 : format == dtype::q5_0 || format == dtype::q5_1 ? 16 : 8;
      const float unit = block.elements == 256 ? 1.0f / 256 : 1.0f / static_cast<float>(steps);
      for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::byte>(engine() & 255);
      for (std::size_t i = 0; i < size; i += block.bytes) {
        const auto some = [&] { return unit * (0.5f + static_cast<float>(engine() % 1001) * 1e-3f); };
        const auto set = [&](int place, float x) {
          const std::uint16_t h = core::float_to_half(x);
          std::memcpy(to + i + place, &h, 2);
        };
        set(places.scale, engine() % 2 == 0 ? some() : -some());
        if (places.minimum >= 0) set(places.minimum, -8 * some());
      }
      weights::dequantise(format, to, v, static_cast<std::size_t>(values.cols()));
    }
    if (bytes_and_scale)
      for (extent b = 0, n = format == dtype::q8_0 ? 32 : 128; b < values.cols() / n; ++b, to += 2 + n, v += n) {
        float largest = 0;
        for (int k = 0; k < n; ++k) largest = std::max(largest, std::fabs(v[k]));
        const std::uint16_t h = core::float_to_half(largest / 127);
        std::memcpy(to, &h, 2);
        for (int k = 0; k < n; ++k) {
          auto q = static_cast<std::int8_t>(std::lrint(v[k] * 127 / largest));
          if (k == 5 && r % 3 == 0) q = -128;  // quantisers avoid it, files may hold it
          std::memcpy(to + 2 + k, &q, 1);
          v[k] = core::half_to_float(h) * q;
        }
      }
  }
};

/// Restores the instruction set at the end of a test.
struct isa_guard {
  ~isa_guard() { kernels::limit_isa(kernels::best_isa()); }
};
inline std::vector<kernels::isa> available_isas() {
  std::vector<kernels::isa> all;
  for (const kernels::isa level : kernels::isa_levels)
    if (kernels::has_isa(level)) all.push_back(level);
  return all;
}
}  // namespace steno_test
