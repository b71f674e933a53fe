// tools/convert/funasr/folder.cpp - see folder.hpp.
#include "funasr/folder.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <string_view>
#include <utility>
#include <vector>

#include "json_text.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

// A file that configuration.json names. It must lie in the folder: a checkpoint has no business elsewhere.
fs::path inside(const fs::path& root, const std::string& name, const fs::path& named_by) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.is_absolute() || relative.empty() || *relative.begin() == "..")
    fail({.where = named_by.string(),
          .what = "names a file outside of the folder",
          .found = steno::weights::quoted(name)});
  const fs::path file = root / relative;
  if (!fs::exists(file))
    fail({.where = named_by.string(), .what = "names a file that is not there", .found = steno::weights::quoted(name)});
  return file;
}

std::optional<fs::path> only_file_like(const fs::path& root, std::string_view ending) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& e : fs::directory_iterator(root))
    if (e.path().filename().string().ends_with(ending)) found.push_back(e.path());
  if (found.size() > 1)
    fail({.where = root.string(),
          .what = "which file to take is not clear",
          .expected = "one *" + std::string(ending),
          .found = std::to_string(found.size())});
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

// Names in file_path_metas as "init_param", "frontend_conf.cmvn_file", ...; nothing when there is no such file.
std::optional<std::map<std::string, std::string>> file_names(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::map<std::string, std::string> names;
  const nlohmann::json all = read_json_object(path);
  const auto metas = all.find("file_path_metas");
  if (metas == all.end()) return std::nullopt;
  if (!metas->is_object()) fail({.where = path.string(), .what = "file_path_metas is not an object"});
  for (const auto& [key, value] : metas->items()) {
    if (value.is_string()) names[key] = value.get<std::string>();
    if (!value.is_object()) continue;
    for (const auto& [inner, name] : value.items())
      if (name.is_string()) names[key + "." + inner] = name.get<std::string>();
  }
  return names;
}

// A name that config.yaml itself gives may be a path on the machine that trained; only its last part is used.
std::optional<fs::path> named_by_config(const folder& f, const fs::path& root, const std::string& key) {
  const auto named = f.settings.find(key);
  if (!f.has(key) || named->second.empty()) return std::nullopt;
  const fs::path file = root / fs::path(named->second).filename();
  if (!fs::exists(file))
    fail({.where = f.config.string(),
          .what = key + " names a file that is not in the folder",
          .found = steno::weights::quoted(named->second)});
  return file;
}

}  // namespace

bool is_folder(const fs::path& path) {
  return fs::is_directory(path) && (fs::exists(path / "config.yaml") || fs::exists(path / "configuration.json"));
}

folder open_folder(const fs::path& root, const std::optional<fs::path>& weights) {
  folder f;
  const fs::path json = root / "configuration.json";
  const auto names = file_names(json);
  const auto named = [&](const char* key) -> std::optional<fs::path> {
    if (!names || !names->contains(key)) return std::nullopt;
    return inside(root, names->at(key), json);
  };
  f.config = named("config").value_or(root / "config.yaml");
  if (!fs::exists(f.config))
    fail({.where = root.string(), .what = "config.yaml is missing", .expected = "a folder as FunASR publishes it"});
  static_cast<checkpoint_settings&>(f) =
      read_yaml(f.config.string(), read_text(f.config, limits::yaml_bytes), "a FunASR config");
  f.cmvn = named("frontend_conf.cmvn_file");
  f.pieces = named("tokenizer_conf.bpemodel");
  f.tokens = named("tokenizer_conf.token_list");
  if (!f.cmvn) f.cmvn = named_by_config(f, root, "frontend_conf.cmvn_file");
  if (!f.pieces) f.pieces = named_by_config(f, root, "tokenizer_conf.bpemodel");
  if (!names && !f.cmvn && fs::exists(root / "am.mvn")) f.cmvn = root / "am.mvn";
  if (!f.pieces) f.pieces = only_file_like(root, "bpe.model");
  if (!f.tokens && fs::exists(root / "tokens.json")) f.tokens = root / "tokens.json";
  f.weights = weights ? *weights : named("init_param").value_or(root / "model.pt");
  if (!fs::exists(f.weights))
    fail({.where = root.string(), .what = "the weights are missing", .expected = f.weights.filename().string()});
  return f;
}

std::vector<std::string> folder::read_tokens() const {
  if (!tokens)
    fail({.where = config.parent_path().string(), .what = "the tokenizer is missing", .expected = "tokens.json"});
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
