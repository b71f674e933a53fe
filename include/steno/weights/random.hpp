// steno/weights/random.hpp - random weights for a model whose extents are all static: benchmarks and tests without
// files.
//
// Matrices get the variance 1 / columns, vectors named "...norm...weight" values near 1, other vectors values near 0,
// so that activations keep their size through any number of layers. Tested in tests/networks/qwen3_decoder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/members.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/storage.hpp>
#include <steno/weights/weight.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Uniform numbers from a 64-bit generator (splitmix64): the same everywhere for the same seed.
class random_numbers {
 public:
  /// Begins the sequence that belongs to `seed`.
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  /// In [-1, 1).
  float operator()() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<float>(static_cast<std::int32_t>(z >> 32)) * 0x1p-31f;
  }

 private:
  std::uint64_t state_;
};

/// Gives every weight of `model` values in `keep`; products in `format` where their rows are whole blocks, else f16.
template <core::composite Model>
void randomise(Model& model, storage& keep, std::uint64_t seed, dtype format = dtype::f32) {
  random_numbers next(seed);
  std::vector<float> row;
  core::walk(model, [&]<class Leaf>(const std::string& path, Leaf& w, bool) {
    if constexpr (core::weight_leaf<Leaf>) {
      static_assert(core::is_static(Leaf::static_rows) && core::is_static(Leaf::static_cols),
                    "random weights need static extents");
      constexpr bool product = Leaf::static_format == dtype::any;
      const auto rows = static_cast<std::size_t>(w.rows()), cols = static_cast<std::size_t>(w.cols());
      w.format = !product ? dtype::f32 : cols % core::info(format).elements == 0 ? format : dtype::f16;
      std::byte* out = keep.allocate(core::bytes_of(w.format, rows * cols));
      w.data = out;
      w.packed = nullptr;
      const bool gain = rows == 1 && path.find("norm") != std::string::npos && path.ends_with("weight");
      const float centre = gain ? 1.0f : 0.0f, spread = rows == 1 ? 0.17f : std::sqrt(3.0f / static_cast<float>(cols));
      row.resize(cols);
      for (std::size_t r = 0; r < rows; ++r, out += core::bytes_of(w.format, cols)) {
        for (float& v : row) v = centre + spread * next();
        quantise(w.format, row.data(), out, cols);
      }
    }
  });
}

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
