// tests/kernels/product_support.hpp - stored matrices of each product format made of random numbers, with their values.
#pragma once
#include <steno/core/half.hpp>
#include <steno/core/view.hpp>
#include <steno/kernels/product.hpp>

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

/// A weight of N(0, 1) values in a stored format, its bytes at an odd address when that is allowed (no alignment
/// promised).
struct stored_matrix {
  stored_matrix(dtype format_, extent rows, extent cols, unsigned seed, std::size_t offset = 0)
      : format(format_), values(random_matrix(rows, cols, seed)) {
    const std::size_t row_bytes = bytes_of(format, static_cast<std::size_t>(cols));
    memory.resize(row_bytes * static_cast<std::size_t>(rows) + offset);
    bytes = memory.data() + offset;
    for (extent r = 0; r < rows; ++r) store_row(r, bytes + static_cast<std::size_t>(r) * row_bytes);
  }
  weight_ref ref() const {
    return {bytes, packed.empty() ? nullptr : packed.data(), format, values.rows(), values.cols()};
  }
  void pack() {
    packed.clear();
    std::vector<std::byte> to(kernels::packed_bytes(ref()));
    kernels::pack(ref(), to.data(), executor());
    packed = to;
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
      if (format == dtype::f16 || format == dtype::bf16) {
        const std::uint16_t h = format == dtype::f16 ? float_to_half(v[k]) : float_to_bfloat(v[k]);
        std::memcpy(to + 2 * k, &h, 2);
        v[k] = format == dtype::f16 ? half_to_float(h) : bfloat_to_float(h);
      }
    }
    if (format == dtype::q8_0)
      for (extent b = 0; b < values.cols() / 32; ++b, to += 34, v += 32) {
        float most = 0;
        for (int k = 0; k < 32; ++k) most = std::max(most, std::fabs(v[k]));
        const std::uint16_t h = float_to_half(most / 127);
        std::memcpy(to, &h, 2);
        for (int k = 0; k < 32; ++k) {
          auto q = static_cast<std::int8_t>(std::lrint(v[k] * 127 / most));
          if (k == 5 && r % 3 == 0) q = -128;  // quantisers avoid it, files may hold it
          std::memcpy(to + 2 + k, &q, 1);
          v[k] = half_to_float(h) * q;
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
  for (int i = 0; i <= static_cast<int>(kernels::best_isa()); ++i) all.push_back(static_cast<kernels::isa>(i));
  return all;
}
}  // namespace steno_test
