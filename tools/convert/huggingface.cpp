// tools/convert/huggingface.cpp - see huggingface.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "huggingface.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <set>

#include "content.hpp"
#include "folder_entries.hpp"
#include "foreign_files.hpp"
#include "json_text.hpp"
#include "safetensors.hpp"
#include "torch/tensors.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace huggingface {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// What stands for the whole folder.
bool is_description(const fs::path& file) {
  return file.filename() == "config.json" || file.filename().string().ends_with(".index.json");
}
bool is_weights(const fs::path& file) {
  return file.extension() == ".safetensors" || file.filename() == "pytorch_model.bin" || is_description(file);
}

// Files named in an index, each once, in order. A name with a folder in it would lead elsewhere.
std::vector<fs::path> shards(const fs::path& folder, const fs::path& index) {
  const json j = read_json(index);
  if (!j.is_object() || !j.contains("weight_map") || !j["weight_map"].is_object())
    fail({.where = index.string(), .what = "holds no \"weight_map\""});
  std::set<std::string> names;
  for (const auto& [tensor, file] : j["weight_map"].items()) {
    if (!file.is_string() || utf8_path(file.get<std::string>()).has_parent_path())
      fail({.where = index.string(), .what = "names no file for tensor " + steno::weights::quoted(tensor)});
    names.insert(file.get<std::string>());
  }
  std::vector<fs::path> files;
  for (const std::string& n : names) {
    files.push_back(folder / utf8_path(n));
    if (!fs::is_regular_file(files.back()))
      fail({.where = index.string(),
            .what = "names a file that is not there",
            .found = steno::weights::quoted(n),
            .hint = "a shard of the weights is missing: download it, too"});
  }
  return files;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    if (fs::is_regular_file(folder / name)) return {folder / name};
    const fs::path index = folder / (std::string(name) + ".index.json");
    if (fs::is_regular_file(index)) return shards(folder, index);
  }
  fail(without_weights(folder, "model.safetensors, pytorch_model.bin or an index of their shards"));
}

}  // namespace

std::optional<std::string> model_type(const fs::path& path) {
  if (!fs::is_directory(path) && !is_weights(path)) return std::nullopt;
  const fs::path config = folder_of(path) / "config.json";
  if (!fs::is_regular_file(config)) return std::nullopt;
  const json j = read_json(config);
  if (!j.is_object() || !j.contains("model_type") || !j["model_type"].is_string()) return std::nullopt;
  return j["model_type"].get<std::string>();
}

weights open_weights(const fs::path& path) {
  struct opened {
    std::vector<std::unique_ptr<safetensors_file>> files;
  };
  auto keep = std::make_shared<opened>();
  weights w;
  const bool one = !fs::is_directory(path) && !is_description(path);
  const std::vector<fs::path> files = one ? std::vector<fs::path>{path} : files_of(folder_of(path));
  for (const fs::path& file : files) {
    if (is_torch_file(file)) {
      auto more = torch::stored_tensors(std::make_shared<torch::checkpoint>(file));
      std::move(more.begin(), more.end(), std::back_inserter(w.tensors));
    } else {
      keep->files.push_back(std::make_unique<safetensors_file>(file));
      for (const stored_tensor& t : keep->files.back()->tensors()) w.tensors.push_back(t);
    }
  }
  w.where = files.size() == 1 ? files[0].string() : folder_of(path).string();
  w.source = keep;
  return w;
}

}  // namespace huggingface
}  // namespace STENO_ABI
}  // namespace steno
