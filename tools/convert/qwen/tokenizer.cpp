// tools/convert/qwen/tokenizer.cpp - Qwen's byte-level tokenizer, from its own files or tokenizer.json; see
// qwen3_asr.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <map>

#include "json_text.hpp"
#include "limits.hpp"
#include "qwen/qwen3_asr.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace qwen_files {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct parts {
  std::map<std::uint32_t, std::string> text;                    // in GPT-2's letters
  std::map<std::uint32_t, std::pair<std::string, bool>> added;  // as written; whether it is special
  std::vector<std::string> merges;                              // "left right"
};

std::uint32_t number_of(const json& id, const fs::path& file, const std::string& token) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= 1u << 24)
    fail({.where = file.string(), .what = "token " + steno::weights::quoted(token) + " has no number"});
  return id.get<std::uint32_t>();
}

void read_vocabulary(const json& j, const fs::path& file, parts& p) {
  for (const auto& [token, id] : j.items())
    if (!p.text.emplace(number_of(id, file, token), token).second)
      fail({.where = file.string(),
            .what = "token " + steno::weights::quoted(token) + " has the number of another one"});
}

void read_added(const json& content, const json& special, std::uint32_t id, const fs::path& file, parts& p) {
  if (!content.is_string() || content.get<std::string>().empty())
    fail({.where = file.string(), .what = "added token " + std::to_string(id) + " has no content"});
  p.added[id] = {content.get<std::string>(), special.is_boolean() && special.get<bool>()};
}

void read_own_files(const fs::path& folder, parts& p) {
  read_vocabulary(read_json_object(folder / "vocab.json"), folder / "vocab.json", p);
  const std::string text = read_text(folder / "merges.txt", limits::text_bytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !(at == 0 && line.starts_with("#version"))) p.merges.push_back(std::move(line));
    at = end + 1;
  }
  const fs::path config = folder / "tokenizer_config.json";
  if (!fs::is_regular_file(config)) return;
  const json j = read_json_object(config);
  if (!j.contains("added_tokens_decoder") || !j["added_tokens_decoder"].is_object()) return;
  for (const auto& [id, entry] : j["added_tokens_decoder"].items()) {
    if (id.empty() || id.size() > 8 || id.find_first_not_of("0123456789") != std::string::npos || !entry.is_object())
      fail({.where = config.string(), .what = "added_tokens_decoder " + steno::weights::quoted(id) + " is no number"});
    read_added(entry.value("content", json()), entry.value("special", json()),
               static_cast<std::uint32_t>(std::stoul(id)), config, p);
  }
}

void read_tokenizer_json(const fs::path& file, parts& p) {
  const json j = read_json_object(file);
  const json model = j.value("model", json::object());
  if (!model.is_object() || !model.contains("vocab") || !model["vocab"].is_object() || !model.contains("merges") ||
      !model["merges"].is_array())
    fail({.where = file.string(), .what = "model", .expected = "byte pairs: vocab and merges"});
  read_vocabulary(model["vocab"], file, p);
  for (const json& m : model["merges"]) {
    if (m.is_string())
      p.merges.push_back(m.get<std::string>());
    else if (m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string())
      p.merges.push_back(m[0].get<std::string>() + ' ' + m[1].get<std::string>());
    else
      fail({.where = file.string(), .what = "merges hold something that is no pair"});
  }
  const json added = j.value("added_tokens", json::array());
  for (const json& entry : added) {
    if (!entry.is_object()) continue;
    const json content = entry.value("content", json());
    read_added(content, entry.value("special", json()),
               number_of(entry.value("id", json()), file, content.is_string() ? content.get<std::string>() : ""), file,
               p);
  }
}

// The tokenizer takes a token's number for its rank: pairs must stand in the order of the tokens they make.
void check_merges(const parts& p, const std::string& where) {
  std::map<std::string_view, std::uint32_t> numbers;
  for (const auto& [id, text] : p.text) numbers.emplace(text, id);
  std::int64_t last = -1;
  for (const std::string& m : p.merges) {
    const std::size_t space = m.find(' ', 1);
    const std::string joined = space == std::string::npos ? m : m.substr(0, space) + m.substr(space + 1);
    const auto at = numbers.find(joined);
    if (space == std::string::npos || at == numbers.end() || static_cast<std::int64_t>(at->second) <= last)
      fail({.where = where,
            .what = "merge " + steno::weights::quoted(m),
            .expected = "two parts of a token, in the order of the tokens' numbers"});
    last = at->second;
  }
}

}  // namespace

void add_tokenizer(weights::gguf_writer& file, const fs::path& folder, std::uint32_t rows) {
  parts p;
  const fs::path whole = folder / "tokenizer.json";
  if (fs::is_regular_file(folder / "vocab.json") && fs::is_regular_file(folder / "merges.txt"))
    read_own_files(folder, p);
  else if (fs::is_regular_file(whole))
    read_tokenizer_json(whole, p);
  else
    fail({.where = folder.string(),
          .what = "holds no tokenizer",
          .expected = "vocab.json and merges.txt, or tokenizer.json"});
  check_merges(p, folder.string());
  std::uint32_t count = 0;
  for (const auto& [id, t] : p.text) count = std::max(count, id + 1);
  for (const auto& [id, t] : p.added) count = std::max(count, id + 1);
  if (count > rows || p.text.empty())
    fail({.where = folder.string(),
          .what = "tokens",
          .expected = "up to the " + std::to_string(rows) + " rows of the embedding",
          .found = std::to_string(count)});
  std::vector<std::string> tokens(count);
  std::vector<std::int32_t> types(count, 5);
  for (std::uint32_t i = 0; i < count; ++i) tokens[i] = "[PAD" + std::to_string(i) + "]";
  for (const auto& [id, t] : p.text) {
    tokens[id] = t;
    types[id] = 1;
  }
  for (const auto& [id, t] : p.added) {
    tokens[id] = t.first;
    types[id] = t.second ? 3 : 4;
  }
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.pre", "qwen2");
  file.set("tokenizer.ggml.tokens", tokens);
  file.set("tokenizer.ggml.token_type", types);
}

}  // namespace qwen_files
}  // namespace STENO_ABI
}  // namespace steno
