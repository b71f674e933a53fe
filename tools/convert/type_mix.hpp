// tools/convert/type_mix.hpp - the mixes q4_k_m and q5_k_m: which matrices get more bits than the others.
//
// llama.cpp's rule, by what a matrix does, for every stack of layers of a model: in an encoder as in a language model.
//   value, down   the matrix that makes the values of an attention (alone, or fused with keys and queries) and the one
//                 that ends a feed-forward network: q6_k in layer i of n where
//                   i < n/8  or  i >= 7 n/8  or  (i - n/8) mod 3 == 2        (divisions of whole numbers)
//   output        the matrix that makes the scores of the labels: q6_k
//   others        q4_k or q5_k
// n counts the layers of one list (`encoder.encoders.N`). A token embedding that also makes the scores is an output.
// Rows that are no whole blocks get the simple format that package.hpp names. Follows llama_tensor_get_type_impl of
// llama-quant.cpp. Tested in tests/convert/type_mix_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {

/// What a matrix does, as far as the mixes are concerned.
enum class matrix_role { other, value, down, output };

/// The role of a packaged model's tensor, and the layer that it is part of.
struct matrix_place {
  matrix_role role = matrix_role::other;
  std::string_view layers = {};  ///< name of the list; empty when the tensor is part of none
  std::size_t layer = 0;
};
/// By its name alone; a token embedding has the role `other`.
matrix_place place_of(std::string_view name);

/// Whether layer i of n gets more bits for its values and the end of its feed-forward network.
constexpr bool uses_more_bits(std::size_t i, std::size_t n) {
  return i < n / 8 || i >= 7 * n / 8 || (i >= n / 8 && (i - n / 8) % 3 == 2);
}

/// The format of each tensor of a model in the mix whose usual format is `base`, in their order; of tensors that no
/// product reads, f32.
std::vector<dtype> mixed_types(std::span<const imported_tensor> tensors, dtype base);

}  // namespace STENO_ABI
}  // namespace steno
