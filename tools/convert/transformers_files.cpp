// tools/convert/transformers_files.cpp - see transformers_files.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "transformers_files.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <deque>
#include <iterator>
#include <string_view>

#include "json_settings.hpp"
#include "json_text.hpp"
#include "number_text.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace huggingface {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view of_training = "training alone reads it",
                           of_classes = "of transformers' classes, not the model",
                           computed = "steno computes it from its formula", by_name = "the vocabulary is";

// What any class of transformers' may have written.
constexpr unused_setting of_any_class[] = {
    {"_attn_implementation", of_classes},
    {"_attn_implementation_autoset", of_classes},
    {"_commit_hash", of_classes},
    {"_from_model_config", of_classes},
    {"_name_or_path", of_classes},
    {"add_cross_attention", of_classes},
    {"chunk_size_feed_forward", of_classes},
    {"cross_attention_hidden_size", of_classes},
    {"dtype", "every tensor says its own format"},
    {"finetuning_task", of_training},
    {"gradient_checkpointing", of_training},
    {"id2label", "of classifiers", "LABEL_0 LABEL_1"},
    {"is_decoder", of_classes},
    {"label2id", "of classifiers", "LABEL_0 LABEL_1"},
    {"output_attentions", of_classes},
    {"output_hidden_states", of_classes},
    {"output_logits", of_classes},
    {"output_scores", of_classes},
    {"prefix", of_classes},
    {"problem_type", of_classes},
    {"pruned_heads", of_classes},
    {"remove_invalid_values", of_classes},
    {"return_dict", of_classes},
    {"return_dict_in_generate", of_classes},
    {"sep_token_id", by_name},
    {"task_specific_params", of_classes},
    {"tf_legacy_loss", of_classes},
    {"tokenizer_class", of_classes},
    {"torch_dtype", "every tensor says its own format"},
    {"torchscript", of_classes},
    {"transformers_version", of_classes},
    {"use_bfloat16", of_classes},
    {"use_cache", "the same with and without"},
};

constexpr unused_setting of_features[] = {
    {"_processor_class", of_classes},
    {"feature_extractor_type", of_classes},
    {"image_processor_type", of_classes},
    {"mel_filters", computed},
    {"padding", of_classes},
    {"padding_side", "windows are 30 s"},
    {"processor_class", of_classes},
    {"return_attention_mask", of_classes},
    {"return_tensors", of_classes},
    {"transformers_version", of_classes},
};

// The searches of transformers, at their defaults: another value is noted.
struct search_default {
  const char* key;
  const char* value;
};
constexpr search_default searches[] = {
    {"bad_words_ids", "null"},
    {"compression_ratio_threshold", "null"},
    {"constraints", "null"},
    {"diversity_penalty", "0"},
    {"do_sample", "false"},
    {"early_stopping", "false"},
    {"epsilon_cutoff", "0"},
    {"encoder_no_repeat_ngram_size", "0"},
    {"eta_cutoff", "0"},
    {"encoder_repetition_penalty", "1"},
    {"exponential_decay_length_penalty", "null"},
    {"force_words_ids", "null"},
    {"forced_bos_token_id", "null"},
    {"forced_eos_token_id", "null"},
    {"guidance_scale", "null"},
    {"length_penalty", "1"},
    {"logprob_threshold", "null"},
    {"low_memory", "false"},
    {"max_time", "null"},
    {"min_length", "0"},
    {"min_new_tokens", "null"},
    {"no_repeat_ngram_size", "0"},
    {"no_speech_threshold", "null"},
    {"num_assistant_tokens", "5"},
    {"num_beam_groups", "1"},
    {"num_beams", "1"},
    {"num_return_sequences", "1"},
    {"penalty_alpha", "null"},
    {"prompt_condition_type", "null"},
    {"renormalize_logits", "false"},
    {"repetition_penalty", "1"},
    {"sequence_bias", "null"},
    {"temperature", "1"},
    {"top_k", "50"},
    {"top_p", "1"},
    {"typical_p", "1"},
    {"condition_on_prev_tokens", "null"},
};

bool same(const std::string& found, std::string_view value) {
  double a = 0, b = 0;
  return found == value || (is_number(found, a) && is_number(value, b) && a == b);
}

// Of tokenizers, where they have no effect on the texts that steno makes.
constexpr unused_setting of_tokenizers[] = {
    {"*_token", by_name},
    {"*_tokens", by_name},
    {"*_token.__type", by_name},
    {"*_token.content", by_name},
    {"*_token.lstrip", by_name},
    {"*_token.normalized", by_name},
    {"*_token.rstrip", by_name},
    {"*_token.single_word", by_name},
    {"*_token.special", by_name},
    {"added_tokens_decoder", by_name, "content lstrip normalized rstrip single_word special"},
    {"auto_map", of_classes, "AutoConfig AutoFeatureExtractor AutoModel AutoProcessor AutoTokenizer"},
    {"backend", of_classes},
    {"chat_template", "steno writes the prompt itself"},
    {"clean_up_tokenization_spaces", "texts are kept as the model writes them"},
    {"errors", "bytes that are no UTF-8 become U+FFFD"},
    {"is_local", of_classes},
    {"language", of_training},
    {"max_length", of_training},
    {"model_max_length", of_training},
    {"model_specific_special_tokens", by_name},
    {"name_or_path", of_classes},
    {"pad_to_multiple_of", "one text is decoded at once"},
    {"pad_token_id", "one text is decoded at once"},
    {"pad_token_type_id", "one text is decoded at once"},
    {"padding", "one text is decoded at once"},
    {"padding_side", "one text is decoded at once"},
    {"predict_timestamps", of_training},
    {"processor_class", of_classes},
    {"return_attention_mask", of_classes},
    {"special_tokens_map_file", of_classes},
    {"stride", of_training},
    {"task", of_training},
    {"tokenizer_class", of_classes},
    {"tokenizer_file", of_classes},
    {"trim_offsets", of_classes},
    {"truncation", of_training},
    {"truncation_side", of_training},
    {"truncation_strategy", of_training},
    {"unk_token_id", by_name},
    {"use_fast", of_classes},
    {"bos_token_id", by_name},
    {"eos_token_id", by_name},
    {"_commit_hash", of_classes},
    {"_from_auto", of_classes},
};

}  // namespace

std::vector<unused_setting> with_any_class(std::span<const unused_setting> own) {
  std::vector<unused_setting> all(std::begin(of_any_class), std::end(of_any_class));
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

void note_searches(const checkpoint_settings& f, std::vector<std::string>& notes) {
  std::string others;
  for (const search_default& s : searches) {
    const bool list = f.lists.contains(s.key) || f.others.contains(s.key);
    if (list)
      f.mark_read(s.key);
    else if (f.is_null(s.key) || !f.has(s.key) || same(f.text(s.key, ""), s.value))
      continue;
    else if (std::string_view(s.value) == "null" && f.text(s.key, "") == "false")
      continue;  // one way to say that there is none
    others.append(others.empty() ? "" : ", ").append(steno::weights::quoted(s.key));
  }
  if (!others.empty()) notes.push_back(f.source + ": settings of transformers' search are not used: " + others);
}

void add_search_keys(std::vector<unused_setting>& unused, std::string_view reason) {
  for (const search_default& s : searches) unused.push_back({s.key, reason});
}

void check_features(const fs::path& file, std::span<const std::pair<const char*, double>> numbers,
                    std::span<const std::pair<const char*, double>> lengths, std::span<const unused_setting> own,
                    std::vector<std::string>& notes) {
  if (!fs::is_regular_file(file)) return;
  const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
  // A processor's file has the extractor's settings under a name of their own, and its own beside them.
  const bool nested = f.maps.contains("feature_extractor");
  const std::string at = nested ? "feature_extractor." : "";
  for (const auto& [key, value] : numbers)
    if (!f.is_null(at + key)) f.require(at + key, value);
  for (const auto& [key, value] : lengths)
    if (f.real(at + key, value, 0, 1e12) != value)
      notes.push_back(f.source + ": " + at + key +
                      " makes clips of another length than the encoder has positions for; " +
                      "steno's are as long as the encoder's");
  f.require(at + "do_normalize", "false");
  std::vector<unused_setting> unused;
  std::deque<std::string> keys;
  const auto add = [&](const unused_setting& u) {
    keys.push_back(at + std::string(u.key));
    unused.push_back({keys.back(), u.reason, u.parts});
  };
  for (const unused_setting& u : of_features) add(u);
  for (const unused_setting& u : own) add(u);
  if (nested) unused.push_back({"processor_class", of_classes});
  const std::string_view sections[] = {at};
  f.check_all_read(sections, unused, notes);
}

void check_tokenizer_options(const fs::path& folder, std::vector<std::string>& notes) {
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json", "chat_template.json"}) {
    const fs::path file = folder / name;
    if (!fs::is_regular_file(file)) continue;
    const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
    for (const char* key :
         {"add_prefix_space", "add_bos_token", "add_eos_token", "do_lower_case", "normalize", "split_special_tokens"})
      if (!f.is_null(key)) f.require(key, "false");
    f.check_all_read({}, of_tokenizers, notes);
  }
}

}  // namespace huggingface
}  // namespace STENO_ABI
}  // namespace steno
