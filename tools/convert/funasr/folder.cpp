// tools/convert/funasr/folder.cpp - see folder.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/folder.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "folder_entries.hpp"
#include "foreign_files.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

// Where a file lies that configuration.json names. It must lie in the folder: a checkpoint has no business elsewhere.
fs::path place_inside(const fs::path& root, const std::string& name, const fs::path& named_by) {
  const fs::path relative = utf8_path(name).lexically_normal();
  if (relative.has_root_path() || relative.empty() || *relative.begin() == "..")
    fail({.where = named_by.string(),
          .what = "names a file outside of the folder",
          .found = steno::weights::quoted(name)});
  return root / relative;
}
fs::path inside(const fs::path& root, const std::string& name, const fs::path& named_by) {
  const fs::path file = place_inside(root, name, named_by);
  if (!fs::exists(file))
    fail({.where = named_by.string(), .what = "names a file that is not there", .found = steno::weights::quoted(name)});
  return file;
}

// A name that config.yaml itself gives may be a path on the machine that trained; only its last part is used.
fs::path last_part(const fs::path& path) {
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

std::optional<fs::path> only_file_like(const fs::path& root, std::string_view ending) {
  std::vector<fs::path> found;
  for (const fs::path& file : folder_entries(root))
    if (file.filename().string().ends_with(ending)) found.push_back(file);
  if (found.size() > 1)
    fail({.where = root.string(),
          .what = "which file to take is not clear",
          .expected = "one *" + std::string(ending),
          .found = std::to_string(found.size())});
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

// Lines without the white space behind them, as FunASR reads a tokens.txt.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    lines.emplace_back(line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1));  // npos + 1 is 0
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<std::string> read_lines(const fs::path& path) { return lines_of(read_text(path, limits::text_bytes)); }

bool is_folder(const fs::path& path) {
  return fs::is_directory(path) && (fs::exists(path / "config.yaml") || fs::exists(path / "configuration.json"));
}

std::optional<fs::path> folder::named_file(const std::string& key) const {
  const std::string place = "file_path_metas." + key, trained = text(key, "");
  if (names.has(place)) return inside(root, names.text(place, ""), utf8_path(names.source));
  if (trained.empty()) return std::nullopt;
  const fs::path file = root / last_part(utf8_path(trained));
  if (!fs::exists(file))
    fail({.where = config.string(),
          .what = key + " names a file that is not in the folder",
          .found = steno::weights::quoted(trained)});
  return file;
}

std::optional<fs::path> folder::file_if_there(const std::string& key) const {
  const std::string place = "file_path_metas." + key, trained = text(key, "");
  const bool named = names.has(place);
  if (!named && trained.empty()) return std::nullopt;
  const fs::path file =
      named ? place_inside(root, names.text(place, ""), utf8_path(names.source)) : root / last_part(utf8_path(trained));
  return fs::exists(file) ? std::optional(file) : std::nullopt;
}

folder open_folder(const fs::path& root, const std::optional<fs::path>& weights) {
  folder f;
  f.root = root;
  const auto beside = [&](const char* name) {
    return fs::exists(root / name) ? std::optional(root / name) : std::nullopt;
  };
  if (const auto json = beside("configuration.json")) f.names = json_settings(json->string(), read_json_object(*json));
  const bool named = f.names.maps.contains("file_path_metas");
  if (!named && (f.names.has("file_path_metas") || f.names.is_null("file_path_metas")))
    fail({.where = f.names.source, .what = "file_path_metas is not an object"});
  f.config = f.named_file("config").value_or(root / "config.yaml");
  if (!fs::exists(f.config))
    fail({.where = root.string(), .what = "config.yaml is missing", .expected = "a folder as FunASR publishes it"});
  static_cast<checkpoint_settings&>(f) =
      read_yaml(f.config.string(), read_text(f.config, limits::yaml_bytes), "a FunASR config");
  f.cmvn = f.named_file("frontend_conf.cmvn_file");
  f.pieces = f.named_file("tokenizer_conf.bpemodel");
  f.tokens = f.named_file("tokenizer_conf.token_list");
  if (!named && !f.cmvn) f.cmvn = beside("am.mvn");
  if (!f.pieces) f.pieces = only_file_like(root, "bpe.model");
  if (!f.tokens) f.tokens = beside("tokens.json");
  if (!f.tokens) f.tokens = beside("tokens.txt");
  const bool named_weights = f.names.has("file_path_metas.init_param");
  f.weights = named_weights && !weights
                  ? inside(root, f.names.text("file_path_metas.init_param", ""), utf8_path(f.names.source))
                  : weights.value_or(root / "model.pt");
  if (!fs::exists(f.weights)) fail(without_weights(root, f.weights.filename().string()));
  return f;
}

std::vector<std::string> folder::read_tokens() const {
  if (!tokens)
    fail({.where = config.parent_path().string(), .what = "the tokenizer is missing", .expected = "tokens.json"});
  if (tokens->extension() == ".txt") {
    std::vector<std::string> list = read_lines(*tokens);
    if (list.empty()) fail({.where = tokens->string(), .what = "is no list of tokens", .expected = "a token a line"});
    return list;
  }
  const nlohmann::json all = read_json(*tokens);
  const auto refuse = [&] {
    fail({.where = tokens->string(), .what = "is no list of tokens", .expected = "a JSON array of strings"});
  };
  if (!all.is_array() || all.empty()) refuse();
  std::vector<std::string> list;
  for (const auto& t : all) {
    if (!t.is_string()) refuse();
    list.push_back(t.get<std::string>());
  }
  return list;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
