// tools/convert/funasr/folder.cpp - see folder.hpp.
#include "funasr/folder.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace steno::inline STENO_ABI::funasr {

namespace fs = std::filesystem;

namespace {

std::string read_small(const fs::path& path) {
  constexpr std::size_t largest = std::size_t{4} << 20;
  const mapped_file file(path.string());
  if (file.bytes().size() > largest) fail({.where = path.string(), .what = "too large for a settings file"});
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Scalars of the first levels; training settings may be nested deeper, inference needs two. `left` bounds the work,
// because an alias may repeat a large map many times.
void flatten(const YAML::Node& node, const std::string& prefix, int depth, std::size_t& left, folder& out) {
  for (const auto& item : node) {
    if (left-- == 0) throw YAML::Exception(YAML::Mark::null_mark(), "it holds more settings than any config does");
    if (!item.first.IsScalar()) continue;
    const std::string key = prefix + item.first.Scalar();
    if (item.second.IsScalar()) out.settings[key] = item.second.Scalar();
    if (item.second.IsSequence())
      for (const auto& entry : item.second) {
        if (left-- == 0) throw YAML::Exception(YAML::Mark::null_mark(), "it holds more settings than any config does");
        if (entry.IsScalar()) out.lists[key].push_back(entry.Scalar());
      }
    if (item.second.IsMap() && depth < 2) flatten(item.second, key + ".", depth + 1, left, out);
  }
}

void read_config(folder& f) {
  const std::string where = f.config.string();
  try {
    const YAML::Node root = YAML::Load(read_small(f.config));
    if (!root.IsMap()) fail({.where = where, .what = "not a FunASR config: it holds no settings"});
    std::size_t most_settings = 100000;
    flatten(root, "", 1, most_settings, f);
  } catch (const YAML::Exception& e) {
    fail({.where = where, .what = std::string("not readable as YAML: ") + e.what()});
  }
}

// A file that configuration.json names. It must lie in the folder: a checkpoint has no business elsewhere.
fs::path inside(const fs::path& root, const std::string& name, const fs::path& named_by) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.is_absolute() || relative.empty() || *relative.begin() == "..")
    fail({.where = named_by.string(), .what = "names a file outside of the folder", .found = steno::quoted(name)});
  const fs::path file = root / relative;
  if (!fs::exists(file))
    fail({.where = named_by.string(), .what = "names a file that is not there", .found = steno::quoted(name)});
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
  const nlohmann::json all = nlohmann::json::parse(read_small(path), nullptr, false);
  if (all.is_discarded() || !all.is_object()) fail({.where = path.string(), .what = "not readable as JSON"});
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
  if (named == f.settings.end() || named->second.empty()) return std::nullopt;
  const fs::path file = root / fs::path(named->second).filename();
  if (!fs::exists(file))
    fail({.where = f.config.string(),
          .what = key + " names a file that is not in the folder",
          .found = steno::quoted(named->second)});
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
  read_config(f);
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

std::uint32_t folder::number(const std::string& key, std::uint32_t otherwise, std::uint32_t least,
                             std::uint32_t most) const {
  const auto found = settings.find(key);
  if (found == settings.end()) return otherwise;
  const std::string& s = found->second;
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (failure != std::errc{} || end != s.data() + s.size() || value < least || value > most)
    fail({.where = config.string(),
          .what = key,
          .expected = "a number from " + std::to_string(least) + " to " + std::to_string(most),
          .found = steno::quoted(s)});
  return value;
}

double folder::real(const std::string& key, double otherwise, double low, double high) const {
  const auto found = settings.find(key);
  if (found == settings.end()) return otherwise;
  const std::string& s = found->second;
  double value = 0;
  const auto [end, failure] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (failure != std::errc{} || end != s.data() + s.size() || !(value >= low && value <= high))
    fail({.where = config.string(),
          .what = key,
          .expected = "a number from " + std::to_string(low) + " to " + std::to_string(high),
          .found = steno::quoted(s)});
  return value;
}

std::vector<std::string> folder::read_tokens() const {
  if (!tokens)
    fail({.where = config.parent_path().string(), .what = "the tokenizer is missing", .expected = "tokens.json"});
  const mapped_file file(tokens->string());
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
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

std::string folder::text(const std::string& key, const std::string& otherwise) const {
  const auto found = settings.find(key);
  return found == settings.end() ? otherwise : found->second;
}

void folder::require(const std::string& key, const std::string& value) const {
  const std::string found = text(key, value);
  // "True" is what Python prints for true.
  if (found != value && !(value == "true" && found == "True"))
    fail({.where = config.string(),
          .what = key + " is not supported",
          .expected = value,
          .found = steno::quoted(found)});
}

}  // namespace steno::inline STENO_ABI::funasr
