// tools/convert/funasr/ct_punc.hpp - CT-Transformer punctuation: settings, tensors and keys of its packaged file.
//
// Follows CTTransformer and SANMEncoder of funasr/models/ct_transformer and sanm; defaults are theirs. Schema:
// docs/formats.md. Tested in tests/convert/funasr_test.cpp and tests/parity/ct_punc_test.cpp.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "funasr/tensors.hpp"
#include "imported_model.hpp"

namespace steno::inline STENO_ABI::funasr {

struct folder;

struct ct_punc_settings {
  std::uint32_t output_size = 256, attention_heads = 4, linear_units = 2048, num_blocks = 6, kernel_size = 11;
  std::uint32_t sentence_end = 3;
  std::vector<std::string> marks;
};

/// All tensors of a model of this size, in the order of the packaged file.
std::vector<expected_tensor> ct_punc_tensors(const ct_punc_settings& s, std::size_t vocabulary);

/// Whether a tensor of a packaged file may change its number format.
bool is_ct_punc_product(const std::string& name, std::size_t rank);

/// Imports the folder; `cmvn` is refused. Throws steno::error.
imported_model import_ct_punc(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace steno::inline STENO_ABI::funasr
