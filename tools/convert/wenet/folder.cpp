// tools/convert/wenet/folder.cpp - see folder.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "wenet/folder.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "../number_text.hpp"
#include "foreign_files.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace wenet_files {

namespace fs = std::filesystem;

namespace {

// The file in `root` with the last part of the name that a setting holds: training machines have other folders.
std::optional<fs::path> named(const folder& f, const fs::path& root, const std::string& key) {
  const std::string name = utf8_path(f.text(key, "")).filename().string();
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  const fs::path file = root / utf8_path(name);
  return fs::is_regular_file(file) ? std::optional(file) : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blank = " \t\r\n";
  for (std::size_t at = line.find_first_not_of(blank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blank, end);
  }
  return words;
}

}  // namespace

bool is_folder(const fs::path& path) { return fs::is_directory(path) && fs::is_regular_file(path / "train.yaml"); }

folder open_folder(const fs::path& root, const std::optional<fs::path>& weights) {
  folder f;
  f.config = root / "train.yaml";
  if (!fs::is_regular_file(f.config))
    fail({.where = root.string(), .what = "train.yaml is missing", .expected = "a folder as WeNet publishes it"});
  static_cast<checkpoint_settings&>(f) =
      read_yaml(f.config.string(), read_text(f.config, limits::yaml_bytes), "a WeNet config");
  f.weights = weights ? *weights : root / "final.pt";
  if (!fs::is_regular_file(f.weights)) fail(without_weights(root, f.weights.filename().string()));
  std::optional<fs::path> units = named(f, root, "tokenizer_conf.symbol_table_path");
  for (const char* name : {"units.txt", "words.txt", "lang_char.txt"})
    if (!units && fs::is_regular_file(root / name)) units = root / name;
  if (!units) fail({.where = root.string(), .what = "the vocabulary is missing", .expected = "units.txt"});
  f.units = *units;
  f.pieces = named(f, root, "tokenizer_conf.bpe_path");
  const bool nested = f.has("cmvn_conf.cmvn_file"), flat = f.has("cmvn_file");
  const std::string kind = f.text("cmvn", "");
  if (!kind.empty()) f.require("cmvn", "global_cmvn");
  const bool normalises = nested ? kind == "global_cmvn" : flat;
  if (normalises) {
    f.cmvn = named(f, root, nested ? "cmvn_conf.cmvn_file" : "cmvn_file");
    if (!f.cmvn && fs::is_regular_file(root / "global_cmvn")) f.cmvn = root / "global_cmvn";
  }
  f.json_cmvn = f.flag(nested ? "cmvn_conf.is_json_cmvn" : "is_json_cmvn", true);
  return f;
}

std::vector<std::string> read_units(const fs::path& path) {
  return parse_units(read_text(path, limits::text_bytes), path.string());
}
cmvn_statistics read_cmvn(const fs::path& path, bool json) {
  return parse_cmvn(read_text(path, limits::text_bytes), path.string(), json);
}

std::vector<std::string> parse_units(std::string_view text, const std::string& where) {
  std::vector<std::string> units;
  std::vector<bool> seen;
  std::size_t line_number = 0, count = 0;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;  // a unit is a line
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto words = words_of(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (words.empty()) continue;
    std::size_t id = 0;
    if (words.size() != 2 || !is_number(words[1], id) || id >= lines)
      fail({.where = where, .what = "line " + std::to_string(line_number), .expected = "a unit and its number"});
    if (id >= units.size()) {
      units.resize(id + 1);
      seen.resize(id + 1);
    }
    if (seen[id]) fail({.where = where, .what = "number " + std::to_string(id) + " occurs twice"});
    seen[id] = true;
    units[id] = std::string(words[0]);
    ++count;
  }
  if (count == 0) fail({.where = where, .what = "holds no units"});
  if (count != units.size())
    fail({.where = where,
          .what = "numbers of units",
          .expected = "0 to " + std::to_string(units.size() - 1) + " without gaps",
          .found = std::to_string(count) + " units"});
  return units;
}

namespace {

struct cmvn_sums {
  std::vector<double> sums, squares;
  double count = 0;
};

cmvn_sums json_sums(std::string_view text, const std::string& where) {
  const nlohmann::json j = parse_json(text, where);
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    fail({.where = where, .what = what, .expected = expected});
  };
  if (!j.is_object()) refuse("not a cmvn file", "mean_stat, var_stat and frame_num as JSON");
  const auto list = [&](const char* key) {
    if (!j.contains(key) || !j[key].is_array()) refuse(std::string("\"") + key + "\"", "a list of numbers");
    std::vector<double> values;
    for (const auto& v : j[key]) {
      if (!v.is_number()) refuse(std::string("\"") + key + "\": element " + std::to_string(values.size()), "a number");
      values.push_back(v.get<double>());
    }
    return values;
  };
  if (!j.contains("frame_num") || !j["frame_num"].is_number()) refuse("\"frame_num\"", "a number");
  return {list("mean_stat"), list("var_stat"), j["frame_num"].get<double>()};
}

// "[ sums count  sums of squares 0 ]"
cmvn_sums kaldi_sums(std::string_view text, const std::string& where) {
  const auto words = words_of(text);
  const std::size_t n = words.size() < 6 ? 0 : (words.size() - 4) / 2;
  if (n == 0 || words.size() != 2 * n + 4 || words.front() != "[" || words.back() != "]")
    fail({.where = where, .what = "not a cmvn file in Kaldi's text form"});
  cmvn_sums s;
  for (std::size_t i = 1; i <= 2 * n + 2; ++i) {
    double v = 0;
    if (!is_number(words[i], v) || !std::isfinite(v)) {
      const auto before = text.substr(0, static_cast<std::size_t>(words[i].data() - text.data()));
      fail({.where = where,
            .what = "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ": element " +
                    std::to_string(i - 1),
            .expected = "a finite number",
            .found = steno::weights::quoted(words[i])});
    }
    if (i <= n)
      s.sums.push_back(v);
    else if (i == n + 1)
      s.count = v;
    else if (i <= 2 * n + 1)
      s.squares.push_back(v);
  }
  return s;
}

}  // namespace

cmvn_statistics parse_cmvn(std::string_view text, const std::string& where, bool json) {
  const auto [sums, squares, count] = json ? json_sums(text, where) : kaldi_sums(text, where);
  if (sums.empty() || sums.size() != squares.size() || !(count > 0))
    fail({.where = where, .what = "its vectors are empty or differ in length, or it counts no frames"});
  cmvn_statistics s;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double mean = sums[i] / count;
    const double variance = std::max(squares[i] / count - mean * mean, 1e-20);
    s.mean.push_back(static_cast<float>(mean));
    s.istd.push_back(static_cast<float>(1.0 / std::sqrt(variance)));
    if (!std::isfinite(s.mean.back()) || !std::isfinite(s.istd.back()) || !(s.istd.back() > 0))
      fail({.where = where,
            .what = "feature " + std::to_string(i),
            .expected = "a mean and a variance that a float holds",
            .found = std::to_string(mean) + " and " + std::to_string(variance)});
  }
  return s;
}

}  // namespace wenet_files
}  // namespace STENO_ABI
}  // namespace steno
