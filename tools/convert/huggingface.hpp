// tools/convert/huggingface.hpp - a model folder as Hugging Face publishes it: config.json and the weights.
//
// Weights: model.safetensors, its shards (model.safetensors.index.json), pytorch_model.bin or its shards. A file of
// weights in the folder may be named instead of the folder. Tested in tests/convert/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace huggingface {

/// `model_type` of the folder's config.json; nothing when `path` is not such a folder or a file of weights in one.
/// Throws steno::error when that file is no JSON.
std::optional<std::string> model_type(const std::filesystem::path& path);

/// Tensors of all files of weights, and what keeps them alive.
struct weights {
  std::vector<stored_tensor> tensors;
  std::string where;
  std::shared_ptr<const void> source;
};
/// Throws steno::error.
weights open_weights(const std::filesystem::path& path);

}  // namespace huggingface
}  // namespace STENO_ABI
}  // namespace steno
