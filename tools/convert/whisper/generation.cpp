// tools/convert/whisper/generation.cpp - see generation.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "whisper/generation.hpp"

#include <steno/error.hpp>
#include <steno/tokenizers/whisper_languages.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <iterator>
#include <map>

#include "json_settings.hpp"
#include "json_text.hpp"
#include "transformers_files.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view training = "training alone reads it", general = "of transformers' classes, not the model",
                           openai = "steno follows openai's search and its texts", in_vocabulary = "the vocabulary is";

// Where an unknown key may change the text.
constexpr std::string_view model_sections[] = {"activation_function",
                                               "attention",
                                               "begin_",
                                               "d_model",
                                               "decoder",
                                               "encoder",
                                               "forced",
                                               "layer",
                                               "lora",
                                               "max_",
                                               "median",
                                               "norm",
                                               "num_",
                                               "position",
                                               "quantization",
                                               "scale",
                                               "suppress",
                                               "vocab"};
constexpr std::string_view generation_sections[] = {"alignment", "begin_",      "forced", "is_",
                                                    "lang",      "max_initial", "median", "no_timestamps",
                                                    "prev_sot",  "suppress",    "task"};

constexpr unused_setting of_model[] = {
    {"activation_dropout", training},
    {"apply_spec_augment", training},
    {"attention_dropout", training},
    {"attn_implementation", "computes the same in another way"},
    {"bos_token_id", in_vocabulary},
    {"classifier_proj_size", "of classifiers"},
    {"decoder_layerdrop", training},
    {"dropout", training},
    {"encoder_layerdrop", training},
    {"init_std", training},
    {"initializer_range", training},
    {"mask_feature_length", training},
    {"mask_feature_min_masks", training},
    {"mask_feature_prob", training},
    {"mask_time_length", training},
    {"mask_time_min_masks", training},
    {"mask_time_prob", training},
    {"num_hidden_layers", "encoder_layers says it"},
    {"pad_token_id", "one window is decoded at once"},
    {"use_weighted_layer_sum", "of classifiers"},
};

constexpr unused_setting of_generation[] = {
    {"bos_token_id", in_vocabulary},
    {"cache_config", general,
     "axis_key axis_value backend batch_size compute_dtype device max_batch_size max_cache_len nbits offload "
     "q_group_size residual_length"},
    {"cache_implementation", general},
    {"max_length", openai},
    {"max_new_tokens", openai},
    {"pad_token_id", "one window is decoded at once"},
    {"return_timestamps", openai},
    {"trust_remote_code", general},
};

// Ids of the special tokens, which follow from the sizes of vocabulary and text.
struct special_ids {
  std::uint32_t eot, sot, languages, translate, transcribe, prev, no_timestamps;
};
special_ids ids_of(const settings& s) {
  const std::uint32_t eot = text_tokens(s), first = s.vocabulary - 1501;
  return {eot, eot + 1, first - eot - 8, first - 6, first - 5, first - 3, first - 1};
}

// "<|en|>", "en" or "english" to "en".
std::string code_of(const checkpoint_settings& f, const std::string& key, std::string text) {
  if (text.starts_with("<|") && text.ends_with("|>")) text = text.substr(2, text.size() - 4);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const int n = tokenizers::find_whisper_language(text);
  if (n < 0)
    fail({.where = f.source,
          .what = steno::weights::quoted(key),
          .expected = "a language of Whisper's",
          .found = steno::weights::quoted(text)});
  return std::string(tokenizers::whisper_languages[n].code);
}

void require_id(const checkpoint_settings& f, const std::string& key, std::uint32_t id) {
  if (!f.is_null(key)) f.require(key, static_cast<double>(id));
}

// The names of a map; none where it is empty, null or not there.
std::vector<std::string> names_of(const checkpoint_settings& f, const std::string& key) {
  const auto map = f.maps.find(key);
  if (map != f.maps.end()) return map->second;
  if (f.others.contains(key))
    f.mark_read(key);
  else if (!f.is_null(key) && f.has(key))
    fail({.where = f.source, .what = key, .expected = "an object"});
  return {};
}

void read_languages(const checkpoint_settings& f, const special_ids& ids, settings& s) {
  std::map<std::uint32_t, std::string> known;
  const std::vector<std::string> names = names_of(f, "lang_to_id");
  if (names.empty()) return;
  for (const std::string& name : names) {
    const std::string key = "lang_to_id." + name, code = code_of(f, key, name);
    const auto n = static_cast<std::uint32_t>(tokenizers::find_whisper_language(code));
    if (n >= ids.languages)
      fail({.where = f.source,
            .what = steno::weights::quoted(key),
            .expected = "one of the vocabulary's " + std::to_string(ids.languages) + " languages"});
    f.require(key, static_cast<double>(ids.sot + 1 + n));
    known[n] = code;
  }
  if (known.size() < ids.languages)
    for (const auto& [n, code] : known) s.languages.push_back(code);
}

void read_tasks(const checkpoint_settings& f, const special_ids& ids) {
  for (const std::string& name : names_of(f, "task_to_id")) {
    if (name != "transcribe" && name != "translate")
      fail({.where = f.source,
            .what = steno::weights::quoted("task_to_id." + name) + " is a task that steno does not know",
            .expected = "transcribe and translate"});
    f.require("task_to_id." + name, static_cast<double>(name == "translate" ? ids.translate : ids.transcribe));
  }
}

// [[1, language or null], [2, task], [3, notimestamps]]: what the prompt is when the user says nothing.
void read_forced(const checkpoint_settings& f, const json& j, const special_ids& ids, settings& s) {
  f.mark_read("forced_decoder_ids");
  const auto forced = j.find("forced_decoder_ids");
  if (forced == j.end() || forced->is_null()) return;
  const auto refuse = [&](const std::string& found) {
    fail({.where = f.source,
          .what = "forced_decoder_ids",
          .expected = "pairs of a place and the token of a language, of a task or of no times",
          .found = found});
  };
  if (!forced->is_array() || forced->size() > 16) refuse("another value");
  for (const json& pair : *forced) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned()) refuse(pair.dump());
    if (pair[1].is_null()) continue;
    if (!pair[1].is_number_unsigned()) refuse(pair.dump());
    const auto id = pair[1].get<std::uint64_t>();
    if (id > ids.sot && id <= ids.sot + ids.languages)
      s.language = tokenizers::whisper_languages[id - ids.sot - 1].code;
    else if (id == ids.translate)
      s.translate = true;
    else if (id != ids.transcribe && id != ids.no_timestamps)  // whether there are times is the user's choice
      refuse(pair.dump());
  }
}

void read_task_and_language(const checkpoint_settings& f, settings& s) {
  const std::string task = f.text("task", "");
  if (!task.empty() && task != "transcribe" && task != "translate")
    fail({.where = f.source,
          .what = "task",
          .expected = "transcribe or translate",
          .found = steno::weights::quoted(task)});
  const std::string language = f.text("language", "");
  // They win over forced ids; a language without a task is transcribed.
  if (!task.empty() || !language.empty()) {
    s.translate = task == "translate";
    s.language = language.empty() ? "" : code_of(f, "language", language);
  }
}

void read_generation(const checkpoint_settings& f, const json& j, bool own_file, settings& s,
                     std::vector<std::string>& notes) {
  const special_ids ids = ids_of(s);
  require_id(f, "eos_token_id", ids.eot);
  require_id(f, "decoder_start_token_id", ids.sot);
  require_id(f, "no_timestamps_token_id", ids.no_timestamps);
  require_id(f, "prev_sot_token_id", ids.prev);
  if (!f.is_null("median_filter_width")) f.require("median_filter_width", 7.0);
  s.suppressed = read_token_ids(f, j, "suppress_tokens", s.vocabulary);
  s.first_suppressed = read_token_ids(f, j, "begin_suppress_tokens", s.vocabulary);
  // A file that generates says all of it: what it does not name is none.
  if (own_file && !s.suppressed) s.suppressed.emplace();
  if (own_file && !s.first_suppressed) s.first_suppressed.emplace();
  if (f.has("is_multilingual")) s.told_multilingual = f.flag("is_multilingual", true);
  if (f.has("max_initial_timestamp_index")) s.max_initial = f.number("max_initial_timestamp_index", 50, 1, 1500);
  read_languages(f, ids, s);
  read_tasks(f, ids);
  read_forced(f, j, ids, s);
  read_task_and_language(f, s);
  s.alignment_heads = read_alignment_heads(f, j);
  huggingface::note_searches(f, notes);
}

void require_known_parts(const checkpoint_settings& f, const settings& s) {
  f.require("activation_function", "gelu");
  if (!f.is_null("median_filter_width")) f.require("median_filter_width", 7.0);
  f.require("scale_embedding", "false");
  f.require("tie_word_embeddings", "true");
  f.require("is_encoder_decoder", "true");
  f.require("model_type", "whisper");
  for (const char* key : {"encoder_ffn_dim", "decoder_ffn_dim"})
    if (f.has(key)) f.require(key, static_cast<double>(4 * s.width));
  f.mark_read("architectures");
  if (const auto list = f.lists.find("architectures"); list != f.lists.end()) {
    const auto& names = list->second;
    if (std::find(names.begin(), names.end(), "WhisperForConditionalGeneration") == names.end())
      fail({.where = f.source,
            .what = "architectures",
            .expected = "WhisperForConditionalGeneration",
            .found = names.empty() ? "nothing" : steno::weights::quoted(names[0])});
  }
  if (f.maps.contains("quantization_config"))
    fail({.where = f.source,
          .what = "quantization_config: weights packed by another library are not read",
          .hint = "convert the model that it was made of; steno-convert --type q8_0 or q4_k makes it small"});
}

}  // namespace

std::optional<std::vector<std::uint32_t>> read_token_ids(const checkpoint_settings& f, const json& j, const char* key,
                                                         std::uint32_t vocabulary) {
  f.mark_read(key);
  const auto found = j.find(key);
  if (found == j.end()) return std::nullopt;
  std::vector<std::uint32_t> ids;
  if (found->is_null()) return ids;
  const auto refuse = [&] {
    fail({.where = f.source, .what = key, .expected = "ids of tokens below " + std::to_string(vocabulary)});
  };
  if (!found->is_array() || found->size() > vocabulary) refuse();
  for (const json& id : *found) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary) refuse();
    ids.push_back(id.get<std::uint32_t>());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> read_alignment_heads(const checkpoint_settings& f, const json& j) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  f.mark_read("alignment_heads");
  if (const auto heads = j.find("alignment_heads"); heads != j.end() && !heads->is_null()) {
    const bool list = heads->is_array() && heads->size() <= 65536;
    for (const json& pair : list ? *heads : json::array({0})) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() || !pair[1].is_number_unsigned() ||
          pair[0].get<std::uint64_t>() > 65535 || pair[1].get<std::uint64_t>() > 65535)
        fail({.where = f.source, .what = "alignment_heads is not a list of [layer, head]"});
      all.emplace_back(pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>());
    }
  }
  return all;
}

void read_features(const fs::path& file, const settings& s, std::vector<std::string>& notes) {
  const double rows = s.audio_context;
  const std::pair<const char*, double> numbers[] = {{"feature_size", s.mels}, {"sampling_rate", 16000},
                                                    {"hop_length", 160},      {"n_fft", 400},
                                                    {"padding_value", 0},     {"dither", 0}};
  const std::pair<const char*, double> lengths[] = {
      {"chunk_length", rows / 50}, {"n_samples", rows * 320}, {"nb_max_frames", rows * 2}};
  huggingface::check_features(file, numbers, lengths, {}, notes);
}

settings read_sizes(const checkpoint_settings& f) {
  const auto size = [&](const char* key) {
    if (!f.has(key)) fail({.where = f.source, .what = steno::weights::quoted(key), .expected = "a size"});
    return f.number(key, 0, 1, 1u << 24);
  };
  return {.mels = size("num_mel_bins"),
          .vocabulary = size("vocab_size"),
          .width = size("d_model"),
          .audio_context = size("max_source_positions"),
          .audio_heads = size("encoder_attention_heads"),
          .audio_layers = size("encoder_layers"),
          .text_context = size("max_target_positions"),
          .text_heads = size("decoder_attention_heads"),
          .text_layers = size("decoder_layers")};
}

void read_folder_settings(const fs::path& folder, const checkpoint_settings& config, settings& s,
                          std::vector<std::string>& notes) {
  require_known_parts(config, s);
  const json whole = read_json_object(folder / "config.json");
  const fs::path generation = folder / "generation_config.json";
  std::vector<unused_setting> unused = huggingface::with_any_class(of_model);
  unused.insert(unused.end(), std::begin(of_generation), std::end(of_generation));
  if (fs::is_regular_file(generation)) {
    const json j = read_json_object(generation);
    const checkpoint_settings f = json_settings(generation.string(), j);
    read_generation(f, j, true, s, notes);
    f.check_all_read(generation_sections, huggingface::with_any_class(of_generation), notes);
    constexpr std::string_view decides = "generation_config.json decides";
    for (const char* key :
         {"alignment_heads", "begin_suppress_tokens", "decoder_start_token_id", "eos_token_id", "forced_decoder_ids",
          "is_multilingual", "lang_to_id*", "language", "max_initial_timestamp_index", "no_timestamps_token_id",
          "prev_sot_token_id", "suppress_tokens", "task", "task_to_id*"})
      unused.push_back({key, decides});
    huggingface::add_search_keys(unused, decides);
  } else {
    read_generation(config, whole, false, s, notes);
  }
  config.check_all_read(model_sections, unused, notes);
  for (const char* name : {"preprocessor_config.json", "processor_config.json"}) read_features(folder / name, s, notes);
  huggingface::check_tokenizer_options(folder, notes);
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
