// tools/convert/qwen/qwen3_asr.cpp - settings and names of a folder; see qwen3_asr.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "qwen/qwen3_asr.hpp"

#include <steno/error.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <span>
#include <string_view>

#include "folder_entries.hpp"
#include "huggingface.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "transformers_files.hpp"

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

// The settings below a name in config.json, with the checks that all settings need.
class section {
 public:
  section(const checkpoint_settings& f, std::string name) : f_(f), name_(std::move(name)) {}
  section below(const std::string& key) const {
    if (!f_.maps.contains(name_ + key)) refuse(key, "an object");
    return {f_, name_ + key + "."};
  }
  bool has(const std::string& key) const { return f_.has(name_ + key); }
  bool has_below(const std::string& key) const { return f_.maps.contains(name_ + key); }
  std::uint32_t size(const std::string& key, std::uint32_t min, std::uint32_t max) const {
    if (!f_.settings.contains(name_ + key) || f_.is_null(name_ + key))
      refuse(key, "a number from " + std::to_string(min) + " to " + std::to_string(max));
    return f_.number(name_ + key, 0, min, max);
  }
  std::uint32_t size(const std::string& key) const { return size(key, 1, 1u << 24); }
  std::uint32_t size(const std::string& key, std::uint32_t otherwise) const {
    return f_.number(name_ + key, otherwise, 1, 1u << 24);
  }
  double number(const std::string& key, double otherwise, double min, double max) const {
    return f_.real(name_ + key, otherwise, min, max);
  }
  std::string text(const std::string& key, const std::string& otherwise) const {
    return f_.text(name_ + key, otherwise);
  }
  void require(const std::string& key, const std::string& value) const {
    if (!f_.is_null(name_ + key)) f_.require(name_ + key, value);
  }
  void require(const std::string& key, double value) const {
    if (!f_.is_null(name_ + key)) f_.require(name_ + key, value);
  }
  /// A list of words; none where there is none.
  std::vector<std::string> words(const std::string& key) const {
    const auto found = f_.lists.find(name_ + key);
    f_.mark_read(name_ + key);
    return found == f_.lists.end() ? std::vector<std::string>() : found->second;
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const {
    fail({.where = f_.source, .what = steno::weights::quoted(name_ + key), .expected = expected});
  }

 private:
  const checkpoint_settings& f_;
  std::string name_;
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
  double theta = c.number("rope_theta", 1e6, 1, 1e9);
  c.require("rms_norm_eps", 1e-6);
  c.require("hidden_act", "silu");
  c.require("attention_bias", "false");
  c.require("use_sliding_window", "false");
  // Where a recording stands is the same number three times: sections of the angles do not matter.
  for (const char* name : {"rope_parameters", "rope_scaling"})
    if (c.has_below(name)) {
      const section r = c.below(name);
      theta = r.number("rope_theta", theta, 1, 1e9);
      r.require("rope_type", "default");
      r.require("type", "default");
    } else {
      c.require(name, "null");
    }
  if (theta != std::floor(theta)) c.refuse("rope_theta", "a whole number");
  s.theta = static_cast<std::uint32_t>(theta);
  for (const std::string& layer : c.words("layer_types"))
    if (layer != "full_attention") c.refuse("layer_types", "full_attention");
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
  c.require("activation_function", "gelu");
  c.require("scale_embedding", "false");
  return s;
}

// Where an unknown key may change the text.
constexpr std::string_view sections[] = {"thinker_config.audio_config.",
                                         "thinker_config.text_config.",
                                         "audio_config.",
                                         "text_config.",
                                         "thinker_config.rope",
                                         "quantization"};
constexpr std::string_view decoder_sections[] = {""};

constexpr std::string_view training = "training alone reads it", general = "of transformers' classes, not the model",
                           by_name = "the vocabulary is", in_tensors = "the tensors show it",
                           search = "nested models do not search";
constexpr unused_setting of_decoder[] = {
    {"attention_dropout", training},
    {"bos_token_id", by_name},
    {"eos_token_id", "generation_config.json says it"},
    {"initializer_range", training},
    {"max_position_embeddings", "positions are computed"},
    {"max_window_layers", "of a sliding window, which is off"},
    {"model_type", general},
    {"pad_token_id", by_name},
    {"rope_scaling.interleaved", "text and sound have one position each"},
    {"rope_scaling.mrope_interleaved", "text and sound have one position each"},
    {"rope_scaling.mrope_section", "text and sound have one position each"},
    {"rope_parameters.interleaved", "text and sound have one position each"},
    {"rope_parameters.mrope_interleaved", "text and sound have one position each"},
    {"rope_parameters.mrope_section", "text and sound have one position each"},
    {"sliding_window", "of a sliding window, which is off"},
    {"tie_word_embeddings", in_tensors},
    {"architectures", general},
};
constexpr unused_setting of_tower[] = {
    {"activation_dropout", training},
    {"architectures", general},
    {"attention_dropout", training},
    {"begin_suppress_tokens", search},
    {"bos_token_id", search},
    {"conv_chunksize", "memory alone hangs on it"},
    {"decoder_start_token_id", search},
    {"dropout", training},
    {"encoder_layerdrop", training},
    {"eos_token_id", search},
    {"initializer_range", training},
    {"is_encoder_decoder", general},
    {"max_length", search},
    {"max_source_positions", "positions are computed"},
    {"model_type", general},
    {"num_hidden_layers", "encoder_layers says it"},
    {"pad_token_id", search},
    {"suppress_tokens", search},
    {"tie_encoder_decoder", general},
    {"tie_word_embeddings", general},
};
constexpr unused_setting of_thinker[] = {
    {"architectures", general},          {"audio_*token_id", by_name},    {"bos_token_id", by_name},
    {"eos_token_id", by_name},           {"initializer_range", training}, {"pad_token_id", by_name},
    {"tie_word_embeddings", in_tensors}, {"user_token_id", by_name},
};
constexpr unused_setting of_generation[] = {
    {"bos_token_id", by_name},
    {"max_length", "steno's option --max-new-tokens"},
    {"max_new_tokens", "steno's option --max-new-tokens"},
    {"pad_token_id", "clips end by themselves"},
    {"trust_remote_code", general},
};
// Features are made of whole recordings.
constexpr unused_setting of_clips[] = {
    {"chunk_length", "recordings of any length"},
    {"n_samples", "recordings of any length"},
    {"nb_max_frames", "recordings of any length"},
};

// What has no effect, below names in config.json; keeps the names.
class unused_keys {
 public:
  unused_keys& below(const std::string& at, std::span<const unused_setting> keys) {
    for (const unused_setting& u : keys) add(at, u);
    std::vector<unused_setting> any = huggingface::with_any_class({});
    huggingface::add_search_keys(any, search);
    for (const unused_setting& u : any) add(at, u);
    return *this;
  }
  std::span<const unused_setting> all() const { return all_; }

 private:
  void add(const std::string& at, const unused_setting& u) {
    names_.push_back(at + std::string(u.key));
    all_.push_back({names_.back(), u.reason, u.parts});
  }
  std::deque<std::string> names_;
  std::vector<unused_setting> all_;
};

void check_folder(const fs::path& folder, const checkpoint_settings& config, std::uint32_t mels,
                  std::vector<std::string>& notes) {
  unused_keys unused;
  for (const std::string at : {"", "thinker_config."})
    unused.below(at, of_thinker).below(at + "audio_config.", of_tower).below(at + "text_config.", of_decoder);
  config.check_all_read(sections, unused.all(), notes);
  if (const fs::path file = folder / "generation_config.json"; fs::is_regular_file(file)) {
    const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
    f.mark_read("eos_token_id");
    huggingface::note_searches(f, notes);
    f.check_all_read({}, huggingface::with_any_class(of_generation), notes);
  }
  const std::pair<const char*, double> numbers[] = {{"feature_size", mels}, {"sampling_rate", 16000},
                                                    {"hop_length", 160},    {"n_fft", 400},
                                                    {"padding_value", 0},   {"dither", 0}};
  for (const char* name : {"preprocessor_config.json", "processor_config.json"})
    huggingface::check_features(folder / name, numbers, {}, of_clips, notes);
  huggingface::check_tokenizer_options(folder, notes);
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

void promise(checkpoint_tensors& from, const std::string& front, const decoder_settings& s, bool head) {
  const auto d = static_cast<extent>(s.width), w = static_cast<extent>(s.head_width);
  const std::string layers = front + "model.layers";
  from.sizes.push_back({front + "model.embed_tokens.weight", static_cast<extent>(s.vocabulary), d});
  from.sizes.push_back({layers + ".*.q_proj.weight", static_cast<extent>(s.heads) * w, d});
  from.sizes.push_back({layers + ".*.k_proj.weight", static_cast<extent>(s.key_heads) * w, d});
  from.sizes.push_back({layers + ".*.q_norm.weight", dynamic, w});
  from.sizes.push_back({layers + ".*.gate_proj.weight", static_cast<extent>(s.units), d});
  if (head) from.sizes.push_back({front + "lm_head.weight", static_cast<extent>(s.outputs), d});
  from.counts.push_back({layers, static_cast<extent>(s.layers)});
}

decoder_settings read_decoder_config(const fs::path& file, std::vector<std::string>& notes) {
  const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
  const section c(f, "");
  decoder_settings s;
  if (f.settings.contains("num_hidden_layers") && f.text("num_hidden_layers", "") == "0") {
    s.width = c.size("hidden_size");
    s.vocabulary = s.outputs = c.size("vocab_size");
    f.check_all_read({}, unused_keys().below("", of_decoder).all(), notes);
    return s;  // a vocabulary alone: no other key can change what is computed
  }
  s = read_decoder(c);
  f.check_all_read(decoder_sections, unused_keys().below("", of_decoder).all(), notes);
  return s;
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
  const fs::path folder = folder_of(path), config = folder / "config.json";
  const checkpoint_settings f = json_settings(config.string(), read_json_object(config));
  const section top(f, "");
  const section thinker = top.has_below("thinker_config") ? top.below("thinker_config") : top;
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
    const double each = top.number("timestamp_segment_time", 80, 0.001, 10000);
    file.set(family + ".timestamp_segment_time", static_cast<float>(each));
    if (const auto words = read_words(folder / "korean_dict_jieba.dict"); !words.empty())
      file.set(family + ".korean_words", words);
    (void)top.words("support_languages");  // a text is given, in any of them
  } else {
    if (const auto ends = read_ends(folder / "generation_config.json"); !ends.empty())
      file.set(family + ".eos_ids", ends);
    if (const auto languages = top.words("support_languages"); !languages.empty())
      file.set(family + ".languages", languages);
    // steno's own field, of models that were trained on short clips alone.
    if (options.longest_clip || top.has("longest_clip")) {
      const double seconds = options.longest_clip ? *options.longest_clip : top.number("longest_clip", 0, 1, 1200);
      if (!(seconds >= 1 && seconds <= 1200)) top.refuse("longest_clip", "1 to 1200 seconds");
      file.set(longest_clip_key, static_cast<float>(seconds));
    }
  }
  (void)top.text("model_type", "");
  (void)thinker.text("model_type", "");
  check_folder(folder, f, tower.mels, model.notes);
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
