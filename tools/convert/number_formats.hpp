// tools/convert/number_formats.hpp - the number format of each tensor of a packaged file.
//
// Only matrices that products read change their format; everything else is f32. A choice is one format for all of them,
// a mix (type_mix.hpp), and exceptions by name. Rows that are not whole blocks of the format get the simple one that
// keeps about as much (q4_k: q5_0, q5_k: q5_1, q6_k and q8_128: q8_0), as llama.cpp has it, else f16; an exception is
// never replaced but refused. Tested in tests/convert/number_formats_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {

/// Tensors whose names match `glob` (`*` stands for any characters) have this format.
struct type_of {
  std::string glob;
  dtype type = dtype::f32;
};
struct format_choice {
  std::optional<dtype> type = {};        ///< one that can_quantise(); nothing keeps what is stored
  bool mix = false;                      ///< of q4_k and q5_k: the mix q4_k_m or q5_k_m
  std::vector<type_of> exceptions = {};  ///< of several that match the last one counts
};

/// Names of --type: formats that can be written, and the mixes.
std::vector<std::string> type_names();
/// "q8_0", or "q4_k_m" and "q5_k_m". Throws steno::error.
format_choice parse_type(std::string_view name);
/// "GLOB=TYPE". Throws steno::error.
type_of parse_type_of(std::string_view text);

/// The format that a matrix gets when `wanted` is asked for; nothing keeps what the checkpoint has.
dtype packaged_format(const imported_tensor& t, std::optional<dtype> wanted);

/// The formats of all tensors, in their order. Throws steno::error for an exception that matches nothing, or a tensor
/// that cannot have its format.
std::vector<dtype> packaged_formats(const imported_model& model, const format_choice& choice);

}  // namespace STENO_ABI
}  // namespace steno
