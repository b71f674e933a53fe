// tools/convert/whisper/tokens.cpp - the text tokens, from tiktoken's tables or a vocab.json; see whisper.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/tokenizers/whisper_languages.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <charconv>
#include <iterator>
#include <map>

#include "folder_entries.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view end_of_text = "<|endoftext|>";

// The vocabulary of a vocab.json, or of the tokenizer.json that newer folders have instead.
std::vector<std::string> read_vocab_json(const fs::path& file, std::uint32_t count) {
  const nlohmann::json whole = read_json_object(file);
  const nlohmann::json* j = &whole;
  if (const auto model = whole.find("model"); model != whole.end() && model->is_object()) {
    const auto vocabulary = model->find("vocab");
    if (vocabulary == model->end() || !vocabulary->is_object())
      fail({.where = file.string(), .what = "holds no vocabulary", .expected = "tokens by name in model.vocab"});
    j = &*vocabulary;
  }
  std::vector<std::string> tokens(count);
  std::vector<bool> there(count);
  std::size_t seen = 0;
  for (const auto& [token, id] : j->items()) {
    if (!id.is_number_unsigned())
      fail({.where = file.string(), .what = "token " + steno::weights::quoted(token) + " has no number"});
    const auto n = id.get<std::uint64_t>();
    // English-only models have another vocabulary, one shorter.
    if (token == end_of_text && n != count)
      fail({.where = file.string(),
            .what = "is the tokenizer of another model: number of " + std::string(end_of_text),
            .expected = std::to_string(count),
            .found = std::to_string(n)});
    if (n >= count) continue;  // special tokens
    seen += there[static_cast<std::size_t>(n)] ? 0u : 1u;
    there[static_cast<std::size_t>(n)] = true;
    tokens[static_cast<std::size_t>(n)] = token;
  }
  if (seen != count)
    fail({.where = file.string(),
          .what = "number of text tokens",
          .expected = std::to_string(count),
          .found = std::to_string(seen)});
  return tokens;
}

}  // namespace

std::vector<std::string> find_tokens(const fs::path& beside, const settings& s, const std::optional<fs::path>& named,
                                     std::vector<std::string>& notes) {
  const bool published = text_tokens(s.vocabulary) > 0, english_only = s.vocabulary < 51865;
  const std::string tiktoken_name = english_only ? "gpt2.tiktoken" : "multilingual.tiktoken";
  const auto read = [&](const fs::path& file) {
    return file.extension() == ".json" ? read_vocab_json(file, text_tokens(s)) : read_tiktoken(file, text_tokens(s));
  };
  const auto file_in = [&](const fs::path& folder) {
    std::error_code none;
    for (const char* name : {tiktoken_name.c_str(), "vocab.json", "tokenizer.json"})
      if ((published || name != tiktoken_name) && fs::is_regular_file(folder / name, none)) return folder / name;
    return fs::path();
  };
  if (named && !fs::is_directory(*named)) return read(*named);
  const fs::path folder = folder_of(named ? *named : beside);
  for (const fs::path& at : {folder, folder / "assets"})
    if (const fs::path file = file_in(at); !file.empty()) return read(file);
  if (named)
    fail({.where = named->string(),
          .what = "holds no tokenizer",
          .expected = tiktoken_name + ", vocab.json or tokenizer.json"});
  if (published)
    for (const fs::path& at : tokenizer_places(english_only))
      if (const fs::path file = file_in(at); !file.empty()) try {
          std::vector<std::string> tokens = read(file);
          notes.push_back("the tokenizer is " + file.string());
          return tokens;
        } catch (const error&) {
          // Not what it should be: another place may have it.
        }
  fail({.where = beside.string(),
        .what = "comes without a tokenizer, and none is where they usually are",
        .expected = tiktoken_name +
                    ", vocab.json or tokenizer.json beside it, in an installed openai-whisper package or in " +
                    "the cache of Hugging Face",
        .hint = "name the file with --tokenizer FILE, or \"pip install openai-whisper\" brings it"});
}

void read_special_tokens(const fs::path& folder, settings& s) {
  std::map<std::string, std::uint64_t> ids;
  std::string where = folder.string();
  const auto add = [&](const std::string& name, std::uint64_t id) { ids[name] = id; };
  const auto is_special = [](const nlohmann::json& t) {
    return t.is_object() && t.contains("content") && t["content"].is_string();
  };
  for (const char* name : {"vocab.json", "tokenizer.json", "added_tokens.json", "tokenizer_config.json"}) {
    const fs::path file = folder / name;
    if (!fs::is_regular_file(file)) continue;
    const nlohmann::json j = read_json_object(file);
    const std::size_t before = ids.size();
    if (const auto added = j.find("added_tokens"); added != j.end() && added->is_array()) {
      for (const auto& t : *added)
        if (is_special(t) && t.contains("id") && t["id"].is_number_unsigned())
          add(t["content"].get<std::string>(), t["id"].get<std::uint64_t>());
    } else if (const auto decoder = j.find("added_tokens_decoder"); decoder != j.end() && decoder->is_object()) {
      for (const auto& [id, t] : decoder->items()) {
        std::uint64_t n = 0;
        const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), n);
        if (failed == std::errc() && end == id.data() + id.size() && is_special(t))
          add(t["content"].get<std::string>(), n);
      }
    } else {
      for (const auto& [token, id] : j.items())
        if (token.starts_with("<|") && id.is_number_unsigned()) add(token, id.get<std::uint64_t>());
    }
    if (ids.size() > before) where = file.string();
  }
  const auto refuse = [&](const std::string& name, std::uint64_t expected, std::uint64_t found) {
    fail({.where = where,
          .what = std::string("token ").append(steno::weights::quoted(name)),
          .expected = "number " + std::to_string(expected),
          .found = std::to_string(found)});
  };
  const bool published = text_tokens(s.vocabulary) > 0;
  const auto found = [&](const std::string& name) {
    const auto at = ids.find(name);
    if (at == ids.end())
      fail({.where = where,
            .what = "holds no token " + steno::weights::quoted(name),
            .hint = "the vocabulary is no published one"});
    return at->second;
  };
  const std::uint64_t eot = published ? text_tokens(s.vocabulary) : found(std::string(end_of_text));
  const std::uint64_t first = published ? s.vocabulary - 1501 : found("<|0.00|>");
  // Text, <|endoftext|>, <|startoftranscript|>, languages, six others, 1501 times.
  if (eot == 0 || eot >= first || first - eot < 9 || first >= s.vocabulary || first + 1501 != s.vocabulary)
    fail({.where = where,
          .what = "numbers of <|endoftext|> and <|0.00|>",
          .expected = "text tokens before, 1501 times behind them, " + std::to_string(s.vocabulary) + " tokens in all",
          .found = std::to_string(eot) + " and " + std::to_string(first)});
  const std::pair<const char*, std::uint64_t> others[] = {
      {"<|endoftext|>", eot},        {"<|startoftranscript|>", eot + 1}, {"<|translate|>", first - 6},
      {"<|transcribe|>", first - 5}, {"<|startofprev|>", first - 3},     {"<|notimestamps|>", first - 1},
      {"<|0.00|>", first},           {"<|30.00|>", first + 1500}};
  for (const auto& [name, id] : others)
    if (const auto at = ids.find(name); at != ids.end() ? at->second != id : !published) refuse(name, id, found(name));
  const std::uint64_t languages = first - eot - 8;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(languages, std::size(tokenizers::whisper_languages)); ++i) {
    const std::string name = std::string("<|").append(tokenizers::whisper_languages[i].code).append("|>");
    if (const auto at = ids.find(name); at != ids.end() && at->second != eot + 2 + i)
      refuse(name, eot + 2 + i, at->second);
  }
  if (!published) s.text = static_cast<std::uint32_t>(eot);
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
