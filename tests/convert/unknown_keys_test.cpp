// A key that nobody has seen, in any map of any settings file of any family: an error or a note that names it.
//
// Every map of every checkpoint's settings gets such a key in turn, also those that training alone reads. The files
// are those of shared/golden and shared/manifests; a stranger's clone has the tests of each family's settings beside
// this one, on configs of their own.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include <regex>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/nemo_notes.hpp"
#include "support/golden.hpp"
#include "wenet/folder.hpp"
#include "wenet/u2.hpp"
#include "yaml_settings.hpp"

namespace unknown_keys_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::notes_of_nemo;
using test::read_text;
using test::write_text;

const std::string new_key = "kzqxvw";

// What the new key is set to, in turn: kinds of values are told apart where files are read.
constexpr const char* values[] = {"1", "null", "[1, 2]", "{}", "{inner: {a: 1}}", "text", "[{a: 1}]"};

// The maps of a YAML file as paths of keys and numbers; those of JSON by pointers.
using yaml_path = std::vector<std::variant<std::string, std::size_t>>;

void collect(const YAML::Node& node, const yaml_path& at, std::vector<yaml_path>& maps) {
  const auto below = [&](auto step) {
    yaml_path path = at;
    path.emplace_back(step);
    return path;
  };
  if (node.IsMap()) {
    maps.push_back(at);
    for (const auto& item : node) collect(item.second, below(item.first.Scalar()), maps);
  } else if (node.IsSequence()) {
    for (std::size_t i = 0; i < node.size(); ++i) collect(node[i], below(i), maps);
  }
}

YAML::Node node_at(YAML::Node node, const yaml_path& path) {
  for (const auto& step : path) {
    YAML::Node next = step.index() == 0 ? node[std::get<std::string>(step)] : node[std::get<std::size_t>(step)];
    node.reset(next);
  }
  return node;
}

std::string shown(const yaml_path& path) {
  std::string all;
  for (const auto& step : path)
    all += step.index() == 0 ? "/" + std::get<std::string>(step) : "/" + std::to_string(std::get<std::size_t>(step));
  return all.empty() ? "/" : all;
}

// `text` once with the new key in each map; a config of many maps of the same kind is seen at `limit` of them.
template <class Check>
int with_new_key_in_yaml(const std::string& text, const Check& check) {
  std::vector<yaml_path> maps;
  collect(YAML::Load(text), {}, maps);
  std::size_t turn = 0;
  for (const yaml_path& at : maps) {
    YAML::Node all = YAML::Load(text);
    node_at(all, at)[new_key] = YAML::Load(values[turn++ % std::size(values)]);
    check(YAML::Dump(all), shown(at));
  }
  return static_cast<int>(maps.size());
}

template <class Check>
int with_new_key_in_json(const std::string& text, const Check& check) {
  const json original = json::parse(text);
  const json kinds[] = {1, nullptr, {1, 2}, json::object(), {{"inner", {{"a", 1}}}}, "text"};
  std::size_t turn = 0;
  int maps = 0;
  const std::function<void(const json&, const json::json_pointer&)> visit = [&](const json& j, const auto& at) {
    if (!j.is_object()) return;
    json changed = original;
    changed[at][new_key] = kinds[turn++ % std::size(kinds)];
    check(changed.dump(), at.to_string());
    ++maps;
    for (const auto& [key, value] : j.items()) visit(value, at / key);
  };
  visit(original, json::json_pointer());
  return maps;
}

// The refusal and the notes of `read`, in one text.
template <class Read>
std::string answer(const Read& read) {
  std::string said;
  try {
    for (const std::string& note : read()) said.append(note).append("\n");
  } catch (const error& e) {
    said = e.what();
  }
  return said;
}

// A vocabulary, weights' names or tokens: data, not settings.
bool is_settings_file(const fs::path& file) {
  static const std::regex data("(tokens|vocab|added_tokens|tokenizer|names|cpp_runtime|.*\\.index)\\.json");
  const std::string name = file.filename().string(), kind = file.extension().string();
  return kind == ".yaml" || (kind == ".json" && !std::regex_match(name, data));
}

// Windows links for administrators alone.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code refused;
  fs::create_symlink(from, to, refused);
  if (refused) fs::copy_file(from, to);
}

// Every settings file of a folder, and below it, altered in a copy whose other files are links.
int in_folder(const fs::path& checkpoint) {
  const test::temporary_directory directory;
  const fs::path copy = directory.path() / "copy";
  std::vector<fs::path> files;
  fs::create_directory(copy);
  for (const auto& e : fs::recursive_directory_iterator(checkpoint)) {
    const fs::path to = copy / fs::relative(e.path(), checkpoint);
    if (e.is_directory())
      fs::create_directory(to);
    else if (is_settings_file(e.path()))
      files.push_back(to), write_text(to, read_text(e.path()));
    else
      link_or_copy(fs::absolute(e.path()), to);
  }
  const auto import = [&] { return answer([&] { return import_checkpoint(copy).notes; }); };
  if (import().find("jieba_usr_dict") != std::string::npos) return 0;  // refused without a package's dictionary
  int maps = 0;
  for (const fs::path& file : files) {
    const std::string text = read_text(file);
    const auto check = [&](const std::string& changed, const std::string& at) {
      write_text(file, changed);
      const std::string said = import();
      EXPECT_NE(said.find(new_key), std::string::npos)
          << fs::relative(file, copy).string() << " " << at << ": " << (said.empty() ? "silence" : said);
    };
    maps += file.extension() == ".yaml" ? with_new_key_in_yaml(text, check) : with_new_key_in_json(text, check);
    write_text(file, text);
  }
  return maps;
}

void in_folders(const fs::path& family, int at_least) {
  int maps = 0;
  for (const auto& e : fs::directory_iterator(family)) {
    SCOPED_TRACE(e.path().filename());
    if (fs::is_directory(e.path() / "checkpoint")) maps += in_folder(e.path() / "checkpoint");
  }
  EXPECT_GE(maps, at_least);
}

TEST(unknown_keys, of_any_funasr_checkpoint_are_named) {
  STENO_REQUIRE_SHARED(shared);
  in_folders(shared / "golden/funasr", 100);
}

TEST(unknown_keys, of_any_wenet_checkpoint_are_named) {
  STENO_REQUIRE_SHARED(shared);
  in_folders(shared / "golden/wenet", 30);
}

TEST(unknown_keys, of_any_whisper_folder_are_named) {
  STENO_REQUIRE_SHARED(shared);
  EXPECT_GE(in_folder(shared / "golden/whisper/v3/checkpoint/hf"), 5);
}

TEST(unknown_keys, of_any_qwen3_asr_checkpoint_are_named) {
  STENO_REQUIRE_SHARED(shared);
  in_folders(shared / "golden/qwen3_asr", 10);
}

// The archives' configs, and those of the published models.
TEST(unknown_keys, of_any_nemo_config_are_named) {
  STENO_REQUIRE_SHARED(shared);
  std::vector<fs::path> configs;
  for (const auto& e : fs::directory_iterator(shared / "manifests/nemo-configs")) configs.push_back(e.path());
  for (const auto& e : fs::directory_iterator(shared / "golden/nemo"))
    if (fs::exists(e.path() / "checkpoint/model_config.yaml"))
      configs.push_back(e.path() / "checkpoint/model_config.yaml");
  int maps = 0;
  for (const fs::path& config : configs) {
    SCOPED_TRACE(config);
    const std::string text = read_text(config);
    if (!answer([&] { return notes_of_nemo(text); }).empty())
      continue;  // of a model that is not read: others are named
    maps += with_new_key_in_yaml(text, [](const std::string& changed, const std::string& at) {
      const std::string said = answer([&] { return notes_of_nemo(changed); });
      EXPECT_NE(said.find(new_key), std::string::npos) << at << ": " << (said.empty() ? "silence" : said);
    });
  }
  EXPECT_GE(maps, 150);
}

// No list of known keys is open at its end: what it would know, nobody has seen.
TEST(unknown_keys, no_list_of_known_keys_is_open) {
  static const std::regex open("\\{\"[^\"]*\\*\", ");
  int files = 0;
  for (const auto& e : fs::recursive_directory_iterator(fs::path(STENO_SOURCE_DIR) / "tools/convert")) {
    if (e.path().extension() != ".cpp") continue;
    const std::string text = read_text(e.path());
    if (text.find("unused_setting") == std::string::npos) continue;
    ++files;
    for (std::sregex_iterator at(text.begin(), text.end(), open), end; at != end; ++at)
      ADD_FAILURE() << e.path() << ": " << at->str();
  }
  EXPECT_GE(files, 12);
}

}  // namespace unknown_keys_test
