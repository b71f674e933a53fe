// tools/convert/qwen/qwen3_asr.cpp - settings and names of a folder; see qwen3_asr.hpp.
#include "qwen/qwen3_asr.hpp"

#include <steno/error.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "huggingface.hpp"
#include "json_text.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace qwen_files {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view prefix = "thinker.";

// The first word of every line of a list that the original's Python package has beside its code; none without it.
std::vector<std::string> read_words(const fs::path& list) {
  std::vector<std::string> words;
  if (!fs::exists(list)) return words;
  const std::string text = read_text(list, limits::text_bytes);
  constexpr std::string_view space = " \t\r\f\v";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::size_t first = std::min(line.find_first_not_of(space), line.size());
    const std::string_view word = line.substr(first, line.find_first_of(space, first) - first);
    if (!word.empty()) words.emplace_back(word);
    at = end + 1;
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::string published_name(std::string name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> other = {{
      {"model.language_model.", "model."},
      {"language_model.model.", "model."},
      {"language_model.lm_head.", "lm_head."},
      {"model.audio_tower.", "audio_tower."},
      {"model.multi_modal_projector.linear_1.", "audio_tower.proj1."},
      {"model.multi_modal_projector.linear_2.", "audio_tower.proj2."},
  }};
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  for (const auto& [from, to] : other)
    if (name.starts_with(from)) {
      name.replace(0, from.size(), to);
      break;
    }
  return std::string(prefix).append(name);
}

// An object of config.json, which outlives this, with the checks that all settings need.
class section {
 public:
  section(const json& j, std::string where, std::string name)
      : j_(j), where_(std::move(where)), name_(std::move(name)) {
    if (!j_.is_object()) refuse("", "an object");
  }
  section below(const char* key) const {
    static const json none;
    return {has(key) ? j_[key] : none, where_, name_ + key + "."};
  }
  bool has(const char* key) const { return j_.contains(key) && !j_[key].is_null(); }
  std::uint32_t size(const char* key, std::uint32_t min, std::uint32_t max) const {
    if (!has(key) || !j_[key].is_number_unsigned() || j_[key].get<std::uint64_t>() > max ||
        j_[key].get<std::uint64_t>() < min)
      refuse(key, "a number from " + std::to_string(min) + " to " + std::to_string(max));
    return j_[key].get<std::uint32_t>();
  }
  std::uint32_t size(const char* key) const { return size(key, 1, 1u << 24); }
  std::uint32_t size(const char* key, std::uint32_t otherwise) const { return has(key) ? size(key) : otherwise; }
  double number(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    if (!j_[key].is_number()) refuse(key, "a number");
    return j_[key].get<double>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    if (!has(key)) return otherwise;
    if (!j_[key].is_string()) refuse(key, "a string");
    return j_[key].get<std::string>();
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!j_[key].is_boolean()) refuse(key, "true or false");
    return j_[key].get<bool>();
  }
  const json& at(const char* key) const { return j_[key]; }
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const {
    fail({.where = where_, .what = steno::weights::quoted(name_ + key), .expected = expected});
  }

 private:
  const json& j_;
  std::string where_, name_;
};

decoder_settings read_decoder(const section& c) {
  decoder_settings s;
  s.width = c.size("hidden_size");
  s.layers = c.size("num_hidden_layers", 1, limits::layers);
  s.heads = c.size("num_attention_heads");
  s.key_heads = c.size("num_key_value_heads", s.heads);
  s.head_width = c.size("head_dim", 128);
  s.units = c.size("intermediate_size");
  s.vocabulary = s.outputs = c.size("vocab_size");
  double theta = c.number("rope_theta", 1e6);
  if (c.has("rope_parameters")) theta = c.below("rope_parameters").number("rope_theta", theta);
  if (!(theta >= 1 && theta <= 1e9) || theta != std::floor(theta)) c.refuse("rope_theta", "a whole number");
  s.theta = static_cast<std::uint32_t>(theta);
  if (std::fabs(c.number("rms_norm_eps", 1e-6) - 1e-6) > 1e-12) c.refuse("rms_norm_eps", "1e-6");
  if (c.text("hidden_act", "silu") != "silu") c.refuse("hidden_act", "silu");
  if (c.flag("attention_bias", false)) c.refuse("attention_bias", "false");
  if (c.has("rope_scaling")) {
    const section r = c.below("rope_scaling");
    if (r.text("rope_type", r.text("type", "default")) != "default") r.refuse("rope_type", "default");
  }
  return s;
}

tower_settings read_tower(const section& c) {
  tower_settings s;
  s.mels = c.size("num_mel_bins");
  s.width = c.size("d_model");
  s.layers = c.size("encoder_layers", 1, limits::layers);
  s.heads = c.size("encoder_attention_heads");
  s.units = c.size("encoder_ffn_dim");
  s.channels = c.size("downsample_hidden_size");
  s.output = c.size("output_dim");
  s.window = c.size("n_window", 50);
  s.infer = c.size("n_window_infer", 800);
  if (s.window > 10000 || s.infer > 1000000) c.refuse("n_window", "a size");
  if (c.text("activation_function", "gelu") != "gelu") c.refuse("activation_function", "gelu");
  if (c.flag("scale_embedding", false)) c.refuse("scale_embedding", "false");
  return s;
}

void promise_tower(checkpoint_tensors& from, const tower_settings& s) {
  const auto d = static_cast<extent>(s.width), ch = static_cast<extent>(s.channels);
  const std::string at = std::string(prefix) + "audio_tower.";
  from.sizes.push_back({at + "conv2d1.weight", ch, 9});
  from.sizes.push_back({at + "conv_out.weight", d, dynamic});
  from.sizes.push_back({at + "layers.*.fc1.weight", static_cast<extent>(s.units), d});
  from.sizes.push_back({at + "proj2.weight", static_cast<extent>(s.output), d});
  from.counts.push_back({at + "layers", static_cast<extent>(s.layers)});
}

bool same_values(const stored_tensor& a, const stored_tensor& b) {
  if (a.shape != b.shape) return false;
  if (a.stored == b.stored && !a.bytes.empty() && a.bytes.size() == b.bytes.size())
    return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
  std::vector<float> x(a.count()), y(b.count());
  a.read(x);
  b.read(y);
  return x == y;
}

// A language model that shares its embedding says so by storing it twice, or once.
bool is_tied(const checkpoint_tensors& from) {
  const stored_tensor* const head = find(from, std::string(prefix) + "lm_head.weight");
  const stored_tensor* const table = find(from, std::string(prefix) + "model.embed_tokens.weight");
  return head == nullptr || (table != nullptr && same_values(*head, *table));
}

}  // namespace

void walk_asr(const gguf_file& keys, tensor_taker& taker) { walk_model<qwen3::qwen3_asr_any>(keys, taker); }
void walk_aligner(const gguf_file& keys, tensor_taker& taker) {
  walk_model<qwen3::qwen3_forced_aligner_any>(keys, taker);
}

void promise(checkpoint_tensors& from, const std::string& prefix, const decoder_settings& s, bool head) {
  const auto d = static_cast<extent>(s.width), w = static_cast<extent>(s.head_width);
  const std::string layers = prefix + "model.layers";
  from.sizes.push_back({prefix + "model.embed_tokens.weight", static_cast<extent>(s.vocabulary), d});
  from.sizes.push_back({layers + ".*.q_proj.weight", static_cast<extent>(s.heads) * w, d});
  from.sizes.push_back({layers + ".*.k_proj.weight", static_cast<extent>(s.key_heads) * w, d});
  from.sizes.push_back({layers + ".*.q_norm.weight", dynamic, w});
  from.sizes.push_back({layers + ".*.gate_proj.weight", static_cast<extent>(s.units), d});
  if (head) from.sizes.push_back({prefix + "lm_head.weight", static_cast<extent>(s.outputs), d});
  from.counts.push_back({layers, static_cast<extent>(s.layers)});
}

decoder_settings read_decoder_config(const fs::path& file) {
  const json j = read_json(file);
  const section c(j, file.string(), "");
  if (c.has("num_hidden_layers") && c.at("num_hidden_layers") == 0) {
    decoder_settings s;
    s.width = c.size("hidden_size");
    s.vocabulary = s.outputs = c.size("vocab_size");
    return s;
  }
  return read_decoder(c);
}

std::vector<std::int32_t> read_ends(const fs::path& file) {
  std::vector<std::int32_t> ends;
  if (!fs::is_regular_file(file)) return ends;
  const json j = read_json(file);
  if (!j.is_object() || !j.contains("eos_token_id")) return ends;
  const json& e = j["eos_token_id"];
  for (const json& id : e.is_array() ? e : json::array({e})) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= 1u << 24)
      fail({.where = file.string(), .what = "\"eos_token_id\"", .expected = "numbers of tokens"});
    ends.push_back(id.get<std::int32_t>());
  }
  return ends;
}

bool is_checkpoint(const fs::path& path) {
  const auto type = huggingface::model_type(path);
  return type && (*type == "qwen3_asr" || *type == "qwen3_forced_aligner");
}

imported_model import_checkpoint(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const fs::path folder = huggingface::folder_of(path), config = folder / "config.json";
  const json whole = read_json(config);
  const section top(whole, config.string(), "");
  const section thinker = top.has("thinker_config") ? top.below("thinker_config") : top;
  const section text = thinker.below("text_config");
  const bool aligner = thinker.has("classify_num") || top.text("model_type", "") == "qwen3_forced_aligner";
  const tower_settings tower = read_tower(thinker.below("audio_config"));
  decoder_settings decoder = read_decoder(text);
  if (aligner) decoder.outputs = thinker.size("classify_num");
  if (tower.output != decoder.width)
    fail({.where = config.string(),
          .what = "output_dim of the audio tower and hidden_size of the language model",
          .expected = std::to_string(decoder.width),
          .found = std::to_string(tower.output)});

  imported_model model;
  huggingface::weights w = huggingface::open_weights(path);
  model.where = w.where;
  model.source = w.source;
  const std::string family(aligner ? std::string_view("qwen3_forced_aligner") : asr_architecture);
  weights::gguf_writer& file = model.file;
  file.set("general.architecture", family);
  file.set("general.name", aligner ? "Qwen3-ForcedAligner" : "Qwen3-ASR");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  const std::string at = family + ".thinker.";
  file.set(at + "audio_tower.num_mel_bins", tower.mels);
  file.set(at + "audio_tower.attention_heads", tower.heads);
  file.set(at + "audio_tower.n_window", tower.window);
  file.set(at + "audio_tower.n_window_infer", tower.infer);
  file.set(at + "rope_theta", decoder.theta);
  if (aligner) {
    file.set(family + ".timestamp_token_id", top.size("timestamp_token_id"));
    const double each = top.number("timestamp_segment_time", 80);
    if (!(each > 0 && each <= 10000)) top.refuse("timestamp_segment_time", "milliseconds");
    file.set(family + ".timestamp_segment_time", static_cast<float>(each));
    if (const auto words = read_words(folder / "korean_dict_jieba.dict"); !words.empty())
      file.set(family + ".korean_words", words);
  } else {
    if (const auto ends = read_ends(folder / "generation_config.json"); !ends.empty())
      file.set(family + ".eos_ids", ends);
    if (top.has("support_languages") && top.at("support_languages").is_array()) {
      std::vector<std::string> languages;
      for (const json& l : top.at("support_languages"))
        if (l.is_string()) languages.push_back(l.get<std::string>());
      file.set(family + ".languages", languages);
    }
    // steno's own field, of models that were trained on short clips alone.
    if (options.longest_clip || top.has("longest_clip")) {
      const double seconds = options.longest_clip ? *options.longest_clip : top.number("longest_clip", 0);
      if (!(seconds >= 1 && seconds <= 1200)) top.refuse("longest_clip", "1 to 1200 seconds");
      file.set(longest_clip_key, static_cast<float>(seconds));
    }
  }
  add_tokenizer(file, folder, decoder.vocabulary);

  checkpoint_tensors from{.where = model.where, .all = std::move(w.tensors)};
  for (stored_tensor& t : from.all) t.name = published_name(std::move(t.name));
  from.widened = true;
  const std::string head = std::string(prefix) + "lm_head.weight";
  const bool tied = !aligner && is_tied(from);
  if (tied) std::erase_if(from.all, [&](const stored_tensor& t) { return t.name == head; });
  promise_tower(from, tower);
  promise(from, std::string(prefix), decoder, !tied);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace qwen_files
}  // namespace STENO_ABI
}  // namespace steno
