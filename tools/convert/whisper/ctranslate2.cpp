// tools/convert/whisper/ctranslate2.cpp - a folder of faster-whisper: CTranslate2's model.bin and what lies beside it.
//
// Names follow whisper_spec.py and transformers.py (OpenNMT/CTranslate2): query, key and value of an attention lie one
// behind the other in linear_0 (of the encoder's rows query in linear_0, key and value in linear_1). Integer weights
// become f16; --type f32 keeps their exact values. faster-whisper forbids what openai forbids, whatever "suppress_ids"
// says; languages, alignment heads and the first tokens are the file's. Tested in tests/convert/ctranslate2_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/tokenizers/whisper_languages.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "content.hpp"
#include "folder_entries.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "whisper/ctranslate2_file.hpp"
#include "whisper/generation.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Single values: what must be so, or has no effect.
struct known_scalar {
  std::string_view ending;
  double value;  // negative: any
};
constexpr known_scalar scalars[] = {{"encoder/num_heads", -1},
                                    {"decoder/num_heads", -1},
                                    {"decoder/pre_norm", 1},
                                    {"decoder/activation", 3},  // GELU
                                    {"decoder/scale_embeddings", 0},
                                    {"decoder/alibi", 0},
                                    {"decoder/alibi_use_positive_positions", -1},
                                    {"decoder/scale_alibi", -1},
                                    {"decoder/start_from_zero_embedding", 0},
                                    {"decoder/multi_query_attention", 0},
                                    {"decoder/alignment_layer", -1},
                                    {"decoder/alignment_heads", -1},
                                    {"/keep_in_float32", -1},
                                    {"_scale", -1}};

void check_scalar(const ctranslate2_file& file, const std::string& where, const std::string& name) {
  for (const known_scalar& k : scalars) {
    const bool fits = k.ending[0] == '/' || k.ending[0] == '_' ? name.ends_with(k.ending) : name == k.ending;
    if (!fits) continue;
    if (k.value >= 0 && file.scalar(name) != k.value)
      fail({.where = where,
            .what = steno::weights::quoted(name) + " is not supported",
            .expected = weights::number_text(k.value),
            .found = weights::number_text(file.scalar(name))});
    return;
  }
  fail({.where = where,
        .what = steno::weights::quoted(name) + " is a setting that steno does not know",
        .found = weights::number_text(file.scalar(name))});
}

class renamer {
 public:
  renamer(const ctranslate2_file& file, const std::string& where) : file_(file), where_(where) {}

  std::vector<stored_tensor> take_all(settings& s) {
    for (const char* side : {"encoder", "decoder"}) {
      const std::string at = std::string(side) + "/";
      rename(at + "position_encodings/encodings", std::string(side) + ".positional_embedding");
      norm(at + "layer_norm", std::string(side) + (at == "encoder/" ? ".ln_post" : ".ln"));
      std::uint32_t& layers = at == "encoder/" ? s.audio_layers : s.text_layers;
      for (; layers < limits::layers && file_.has(layer(at, layers) + "ffn/layer_norm/gamma"); ++layers) {
        const std::string from = layer(at, layers), to = std::string(side) + ".blocks." + std::to_string(layers);
        norm(from + "self_attention/layer_norm", to + ".attn_ln");
        split(from + "self_attention/linear_0", to + ".attn", {".query", ".key", ".value"});
        linear(from + "self_attention/linear_1", to + ".attn.out");
        if (at == "decoder/") {
          norm(from + "attention/layer_norm", to + ".cross_attn_ln");
          linear(from + "attention/linear_0", to + ".cross_attn.query");
          split(from + "attention/linear_1", to + ".cross_attn", {".key", ".value"});
          linear(from + "attention/linear_2", to + ".cross_attn.out");
        }
        norm(from + "ffn/layer_norm", to + ".mlp_ln");
        linear(from + "ffn/linear_0", to + ".mlp.0");
        linear(from + "ffn/linear_1", to + ".mlp.2");
      }
    }
    for (const char* conv : {"conv1", "conv2"}) linear("encoder/" + std::string(conv), "encoder." + std::string(conv));
    rename("decoder/embeddings/weight", "decoder.token_embedding.weight");
    if (file_.has("decoder/projection/weight")) used_.insert("decoder/projection/weight");
    for (const std::string& name : file_.names())
      if (file_.is_scalar(name))
        check_scalar(file_, where_, name);
      else if (!used_.contains(name) && !(name.ends_with("_scale") && used_.contains(name.substr(0, name.size() - 6))))
        fail({.where = where_, .what = "variable " + steno::weights::quoted(name) + " is not one of Whisper's"});
    return std::move(all_);
  }

 private:
  static std::string layer(const std::string& at, std::uint32_t n) { return at + "layer_" + std::to_string(n) + "/"; }
  stored_tensor take(const std::string& from) {
    used_.insert(from);
    return file_.tensor(from);
  }
  void rename(const std::string& from, std::string to) {
    all_.push_back(take(from));
    all_.back().name = std::move(to);
  }
  void norm(const std::string& from, const std::string& to) {
    rename(from + "/gamma", to + ".weight");
    rename(from + "/beta", to + ".bias");
  }
  void linear(const std::string& from, const std::string& to) {
    rename(from + "/weight", to + ".weight");
    rename(from + "/bias", to + ".bias");
  }
  // Products of one input that lie one behind the other. Keys have no bias: zeros stand in its place.
  void split(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
    const stored_tensor weight = take(from + "/weight"), bias = take(from + "/bias");
    const auto rows = static_cast<std::size_t>(weight.shape[0]), each = rows / parts.size();
    if (rows % parts.size() != 0 || each == 0 || static_cast<std::size_t>(bias.shape[0]) != rows ||
        weight.shape.size() != 2 || bias.shape.size() != 1)
      fail({.where = where_,
            .what = "variable " + steno::weights::quoted(from + "/weight"),
            .expected = std::to_string(parts.size()) + " matrices of one size, and their biases"});
    std::size_t first = 0;
    for (const char* part : parts) {
      all_.push_back(rows_of(weight, to + part + ".weight", first, each));
      stored_tensor b = rows_of(bias, to + part + ".bias", first, each);
      first += each;
      if (std::string_view(part) != ".key") {
        all_.push_back(std::move(b));
        continue;
      }
      std::vector<float> values(each);
      b.read(values);
      if (std::any_of(values.begin(), values.end(), [](float v) { return v != 0; }))
        fail({.where = where_,
              .what = "variable " + steno::weights::quoted(from + "/bias"),
              .expected = "zeros for keys, which have no bias in Whisper"});
    }
  }

  const ctranslate2_file& file_;
  const std::string& where_;
  std::set<std::string> used_;
  std::vector<stored_tensor> all_;
};

std::uint32_t heads_of(const ctranslate2_file& file, const std::string& where, const char* name) {
  const double n = file.scalar(name);
  if (!(n >= 1 && n <= 1 << 14) || n != static_cast<std::uint32_t>(n))
    fail({.where = where, .what = name, .expected = "1 to 16384", .found = weights::number_text(n)});
  return static_cast<std::uint32_t>(n);
}

// The text tokens of vocabulary.json (a list) or vocabulary.txt (a line each), which hold the special ones, too.
std::optional<std::vector<std::string>> read_vocabulary(const fs::path& folder, std::uint32_t count) {
  std::vector<std::string> tokens;
  fs::path file = folder / "vocabulary.json";
  if (fs::is_regular_file(file)) {
    const json j = read_json(file);
    if (j.is_array())
      for (const json& t : j) tokens.push_back(t.is_string() ? t.get<std::string>() : "");
  } else if (file = folder / "vocabulary.txt"; fs::is_regular_file(file)) {
    const std::string text = read_text(file, limits::text_bytes);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      tokens.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  } else {
    return std::nullopt;
  }
  if (tokens.size() <= count || tokens[count] != "<|endoftext|>")
    fail({.where = file.string(), .what = "token " + std::to_string(count), .expected = "<|endoftext|>"});
  tokens.resize(count);
  return tokens;
}

void read_config(const fs::path& path, settings& s, std::vector<std::string>& notes) {
  if (!fs::is_regular_file(path)) return;
  const json j = read_json_object(path);
  const checkpoint_settings f = json_settings(path.string(), j);
  s.alignment_heads = read_alignment_heads(f, j);
  if (j.contains("suppress_ids_begin") && !j["suppress_ids_begin"].is_null())
    s.first_suppressed = read_token_ids(f, j, "suppress_ids_begin", s.vocabulary);
  f.mark_read("suppress_ids_begin");
  const std::uint32_t sot = text_tokens(s) + 1, count = s.vocabulary - 1501 - sot - 7;
  if (j.contains("lang_ids") && !j["lang_ids"].is_null()) {
    const auto ids = read_token_ids(f, j, "lang_ids", s.vocabulary);
    for (const std::uint32_t id : *ids)
      if (id <= sot || id > sot + count)
        fail({.where = path.string(),
              .what = "lang_ids",
              .expected = std::to_string(sot + 1) + " to " + std::to_string(sot + count),
              .found = std::to_string(id)});
    if (ids->size() < count && s.vocabulary != 51864)
      for (const std::uint32_t id : *ids) s.languages.emplace_back(tokenizers::whisper_languages[id - sot - 1].code);
  }
  f.mark_read("lang_ids");
  for (const char* key : {"quantization_type", "quantization_bits", "quantization_group_size"}) f.require(key, "null");
  if (!f.is_null("layer_norm_epsilon")) f.require("layer_norm_epsilon", 1e-5);
  f.require("multi_query_attention", "false");
  constexpr unused_setting unused[] = {{"suppress_ids", "faster-whisper forbids what openai forbids"},
                                       {"bos_token", "the vocabulary is"},
                                       {"eos_token", "the vocabulary is"},
                                       {"unk_token", "the vocabulary is"}};
  constexpr std::string_view all[] = {""};
  f.check_all_read(all, unused, notes);
}

}  // namespace

bool is_ctranslate2(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / "model.bin" : path;
  if (!fs::is_regular_file(file)) return false;
  return ctranslate2_file::begins(weights::mapped_file(file.string()).bytes());
}

imported_model read_ctranslate2(const std::string& where, std::span<const std::byte> bytes, const fs::path& folder,
                                const import_options& options, std::shared_ptr<weights::mapped_file> keep) {
  const ctranslate2_file file(bytes, where);
  if (file.specification() != "WhisperSpec")
    fail({.where = where,
          .what = "a CTranslate2 model of " + steno::weights::quoted(file.specification()) + ", not of Whisper"});
  settings s;
  s.audio_heads = heads_of(file, where, "encoder/num_heads");
  s.text_heads = heads_of(file, where, "decoder/num_heads");
  std::vector<stored_tensor> tensors = renamer(file, where).take_all(s);
  for (stored_tensor& t : tensors) t.file = keep.get();
  const auto size = [&](const char* name, std::size_t axis) {
    const stored_tensor t = file.tensor(name);
    if (axis >= t.shape.size() || t.shape[axis] > 1 << 24)
      fail({.where = where, .what = "variable " + steno::weights::quoted(name) + " has another shape"});
    return static_cast<std::uint32_t>(t.shape[axis]);
  };
  s.mels = size("encoder/conv1/weight", 1);
  s.width = size("encoder/conv1/weight", 0);
  s.audio_context = size("encoder/position_encodings/encodings", 0);
  s.text_context = size("decoder/position_encodings/encodings", 0);
  s.vocabulary = size("decoder/embeddings/weight", 0);
  if (file.has("decoder/projection/weight") && !file.same("decoder/projection/weight", "decoder/embeddings/weight"))
    fail({.where = where, .what = "the output has weights of its own, which Whisper has not"});
  std::vector<std::string> notes;
  read_special_tokens(folder, s);
  read_config(folder / "config.json", s, notes);
  read_features(folder / "preprocessor_config.json", s, notes);
  std::optional<std::vector<std::string>> tokens;
  if (!options.tokenizer && !fs::is_regular_file(folder / "tokenizer.json"))
    tokens = read_vocabulary(folder, text_tokens(s));
  if (!tokens) tokens = find_tokens(folder / "model.bin", s, options.tokenizer, notes);
  imported_model model = package(where, s, std::move(*tokens), std::move(tensors), std::move(keep));
  model.takes_tokenizer = true;
  model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
  return model;
}

imported_model import_ctranslate2(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const fs::path folder = folder_of(path), at = fs::is_directory(path) ? path / "model.bin" : path;
  const auto file = std::make_shared<weights::mapped_file>(at.string());
  return read_ctranslate2(at.string(), file->bytes(), folder, options, file);
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
