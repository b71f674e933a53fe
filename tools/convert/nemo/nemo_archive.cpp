// tools/convert/nemo/nemo_archive.cpp - an open .nemo file; see fastconformer.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <utility>

#include "limits.hpp"
#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

tar_archive open_archive(const weights::mapped_file& file, const std::string& where) {
  if (!is_tar(file.bytes()) && !is_gzip(file.bytes()))
    fail({.where = where, .what = "not a .nemo archive", .expected = "a tar, perhaps gzip"});
  return tar_archive(file.bytes(), where);
}

}  // namespace

// The first model's are model_config.yaml and model_weights.ckpt, another's FRONT_config.yaml and FRONT_weights.ckpt.
nemo_archive::nemo_archive(const std::filesystem::path& path, std::string front)
    : file(path.string()),
      where(path.string()),
      archive(open_archive(file, where)),
      config(read_yaml(where + ": " + front + "_config.yaml", text_of(need(front + "_config.yaml")), "a NeMo config")),
      front_(std::move(front)) {}

torch::checkpoint& nemo_archive::weights() {
  const std::string name = front_ + "_weights.ckpt";
  if (!weights_) weights_.emplace(need(name).bytes, where + ": " + name, &file);
  return *weights_;
}

const tar_member* nemo_archive::find(std::string_view name) const {
  const auto& all = archive.members();
  const auto found = std::find_if(all.begin(), all.end(), [&](const tar_member& m) { return m.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const tar_member& nemo_archive::need(std::string_view name) const {
  if (const tar_member* m = find(name)) return *m;
  constexpr std::size_t shown = 8;
  std::string names;
  const auto& all = archive.members();
  for (std::size_t i = 0; i < all.size() && i < shown; ++i)
    names.append(names.empty() ? "" : ", ").append(steno::weights::quoted(all[i].name));
  if (all.size() > shown) names += ", and " + std::to_string(all.size() - shown) + " more";
  fail({.where = where, .what = "it holds no " + steno::weights::quoted(std::string(name)), .found = names});
}

std::string nemo_archive::text_of(const tar_member& m) const {
  if (m.bytes.size() > limits::text_bytes)
    fail({.where = where, .what = steno::weights::quoted(m.name) + " is too large for such a file"});
  return {reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size()};
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
