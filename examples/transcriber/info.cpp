// steno info: what a model is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model_path.hpp"
#include "output_place.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

namespace steno::app {
namespace {

std::string seconds(double s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", s);
  return text;
}

std::string json_facts(const std::string& path, const model_facts& f) {
  nlohmann::ordered_json object;
  object["file"] = result_text(path);
  object["name"] = result_text(f.name);
  object["architecture"] = result_text(f.architecture);
  object["sample_rate"] = f.sample_rate;
  object["tensors"] = f.tensors;
  object["parameters"] = f.parameters;
  object["vocabulary"] = f.vocabulary;
  object["languages"] = f.languages;
  object["options"] = f.options;
  object["live_options"] = f.live_options;
  if (f.stream_delay) object["stream_delay"] = *f.stream_delay;
  object["bytes"] = nlohmann::ordered_json::object();
  for (const auto& [format, bytes] : f.bytes_by_format) object["bytes"][result_text(format)] = bytes;
  object["settings"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : f.settings) object["settings"][result_text(key)] = result_text(value);
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string text_facts(const std::string& path, const model_facts& f) {
  std::string out;
  const auto row = [&out](const std::string& key, const std::string& value) {
    out += printable(key) + std::string(key.size() < 15 ? 15 - key.size() : 1, ' ') + printable(value) + "\n";
  };
  row("file", path);
  row("name", f.name);
  row("architecture", f.architecture);
  row("sample rate", f.sample_rate > 0 ? std::to_string(f.sample_rate) + " Hz" : "-");
  row("tensors", std::to_string(f.tensors));
  row("parameters", std::to_string(f.parameters));
  row("vocabulary", std::to_string(f.vocabulary));
  std::string languages;
  for (const std::string& l : f.languages) languages += (languages.empty() ? "" : " ") + l;
  row("languages", languages.empty() ? "-" : languages);
  const auto list = [&](const char* key, const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& w : words) line += (line.empty() ? "" : " ") + w;
    for (const std::string& part : wrap(line, 64)) row(std::exchange(key, ""), part);
  };
  list("transcribe", f.options);
  list("stream", f.live_options);
  if (f.stream_delay) row("stream delay", seconds(*f.stream_delay));
  for (const auto& [format, bytes] : f.bytes_by_format) row("weights " + format, std::to_string(bytes) + " bytes");
  if (!f.settings.empty()) out += "settings\n";
  for (const auto& [key, value] : f.settings) out += "  " + printable(key) + " = " + printable(value) + "\n";
  return out;
}

}  // namespace

int run_info(const options& o) {
  const std::string path = find_model(o.model);
  const model_facts facts = facts_of(path);
  const std::string text = output_format(o) == format::json ? json_facts(path, facts) + "\n" : text_facts(path, facts);
  screen all;
  output_place("", {}, all).put(text);
  return 0;
}

}  // namespace steno::app
