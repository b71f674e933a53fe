// tools/convert/nemo/parakeet_folder_settings.cpp - the JSON files of a folder; see parakeet_folder.hpp.
//
// Defaults are those of ParakeetEncoderConfig, ParakeetCTCConfig, ParakeetRNNTConfig, ParakeetTDTConfig and
// ParakeetFeatureExtractor (configuration_parakeet.py, feature_extraction_parakeet.py), and of Nemotron's classes
// (configuration_nemotron3_5_asr.py, configuration_nemotron_asr_streaming.py, processing_nemotron3_5_asr.py).
// Parakeet's extractor normalises every band over the clip, whatever the .nemo file said; Nemotron's normalises
// nothing.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <deque>
#include <optional>

#include "huggingface.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "limits.hpp"
#include "nemo/parakeet_folder.hpp"
#include "transformers_files.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view for_training = "training alone reads it",
                           of_transformers = "of transformers' classes, not the model",
                           in_vocabulary = "the vocabulary says it";

constexpr unused_setting of_folder_encoder[] = {
    {"activation_dropout", for_training},
    {"architectures", of_transformers},
    {"attention_dropout", for_training},
    {"bos_token_id", in_vocabulary},
    {"dropout", for_training},
    {"dropout_positions", for_training},
    {"eos_token_id", in_vocabulary},
    {"initializer_range", for_training},
    {"layerdrop", for_training},
    {"max_position_embeddings", "positions are made as they are needed"},
    {"is_encoder_decoder", of_transformers},
    {"model_type", of_transformers},
    {"pad_token_id", in_vocabulary},
    {"tie_word_embeddings", "there are none"},
};
constexpr unused_setting of_folder_model[] = {
    {"decoder_start_token_id", "it is the blank"},
    {"architectures", "model_type says it"},
    {"bos_token_id", in_vocabulary},
    {"ctc_loss_reduction", for_training},
    {"ctc_zero_infinity", for_training},
    {"eos_token_id", in_vocabulary},
    {"initializer_range", for_training},
    {"is_encoder_decoder", of_transformers},
    {"tie_word_embeddings", "there are none"},
};
constexpr unused_setting of_folder_generation[] = {
    {"bos_token_id", in_vocabulary},
    {"eos_token_id", "a clip ends with its last row"},
    {"max_length", "a clip ends with its last row"},
    {"max_new_tokens", "a clip ends with its last row"},
    {"pad_token_id", "clips are recognised one by one"},
};
constexpr unused_setting of_streaming_processor[] = {
    {"blank_token", in_vocabulary},
    {"default_num_lookahead_tokens", "the encoder's settings say it"},
    {"supported_num_lookahead_tokens", "the encoder's settings say it"},
};
constexpr unused_setting of_folder_extractor[] = {
    {"_processor_class", of_transformers},       {"device", of_transformers},
    {"feature_extractor_type", of_transformers}, {"padding", "a clip is not padded"},
    {"padding_side", "a clip is not padded"},    {"padding_value", "a clip is not padded"},
    {"processor_class", of_transformers},        {"return_attention_mask", "a clip is not padded"},
    {"return_tensors", of_transformers},         {"transformers_version", of_transformers},
};
// Of tokenizer_config.json and special_tokens_map.json.
constexpr unused_setting of_folder_tokens[] = {
    {"*_token", in_vocabulary},
    {"*_token.__type", in_vocabulary},
    {"*_token.content", in_vocabulary},
    {"*_token.lstrip", in_vocabulary},
    {"*_token.normalized", in_vocabulary},
    {"*_token.rstrip", in_vocabulary},
    {"*_token.single_word", in_vocabulary},
    {"*_token.special", in_vocabulary},
    {"added_tokens_decoder", in_vocabulary},
    {"added_tokens_decoder.*.content", in_vocabulary},
    {"added_tokens_decoder.*.lstrip", in_vocabulary},
    {"added_tokens_decoder.*.normalized", in_vocabulary},
    {"added_tokens_decoder.*.rstrip", in_vocabulary},
    {"added_tokens_decoder.*.single_word", in_vocabulary},
    {"added_tokens_decoder.*.special", in_vocabulary},
    {"additional_special_tokens", in_vocabulary},
    {"backend", of_transformers},
    {"clean_up_tokenization_spaces", "texts are kept as the model writes them"},
    {"extra_special_tokens", in_vocabulary},
    {"is_local", of_transformers},
    {"max_length", for_training},
    {"model_max_length", for_training},
    {"name_or_path", of_transformers},
    {"pad_to_multiple_of", for_training},
    {"pad_token_type_id", for_training},
    {"padding_side", for_training},
    {"processor_class", of_transformers},
    {"stride", for_training},
    {"tokenizer_class", of_transformers},
    {"truncation_side", for_training},
    {"truncation_strategy", for_training},
    {"use_fast", of_transformers},
    {"_commit_hash", of_transformers},
};

// `own` and what any class of transformers' writes, with `prefix` before every key; keeps the names.
class prefixed_settings {
 public:
  void add(const std::string& prefix, std::span<const unused_setting> own) {
    for (const unused_setting& u : own) {
      names_.push_back(prefix + std::string(u.key));
      all_.push_back({names_.back(), u.reason, u.parts});
    }
  }
  std::span<const unused_setting> all() const { return all_; }

 private:
  std::deque<std::string> names_;
  std::vector<unused_setting> all_;
};

[[noreturn]] void refuse_key(const checkpoint_settings& f, const std::string& key, const std::string& expected,
                             const std::string& found) {
  fail({.where = f.source, .what = key, .expected = expected, .found = found});
}

std::uint32_t id_of(const checkpoint_settings& f, const std::string& key, std::uint32_t otherwise) {
  return f.number(key, otherwise, 0, (1u << 20) + 1);
}

// Nemotron's encoder: what it looks ahead, the usual one first, and one rule of what it looks back.
void read_streaming(const checkpoint_settings& f, const std::string& at, parakeet_folder_settings& s) {
  s.causal_downsampling = s.causal = s.layer_norm = s.chunked = true;
  s.frontend.normalise = frontends::normalisation::none;
  const auto left = static_cast<int>(f.number(at + "sliding_window", 71, 1, 1u << 20)) - 1;
  const auto usual = static_cast<int>(f.number(at + "default_num_lookahead_tokens", 13, 0, 1u << 20));
  std::vector<std::vector<int>> pairs{{left, usual}};
  for (const int right : f.numbers(at + "supported_num_lookahead_tokens", {}, 0, 1 << 20))
    if (right != usual) pairs.push_back({left, right});
  take_contexts(pairs, f.source, at + "sliding_window and supported_num_lookahead_tokens", s);
}

void read_folder_encoder(const checkpoint_settings& f, parakeet_folder_settings& s) {
  const std::string at = "encoder_config.";
  const auto require = [&](const char* key, const std::string& value) {
    if (!f.is_null(at + key)) f.require(at + key, value);
  };
  s.width = f.number(at + "hidden_size", 1024, 2, limits::width);
  s.blocks = f.number(at + "num_hidden_layers", 24, 1, limits::layers);
  s.heads = f.number(at + "num_attention_heads", 8, 1, 1024);
  s.units = f.number(at + "intermediate_size", 4096, 1, 1u << 22);
  s.taps = f.number(at + "conv_kernel_size", 9, 1, 1023);
  s.channels = f.number(at + "subsampling_conv_channels", 256, 1, limits::width);
  s.frontend.mel.mels = f.number(at + "num_mel_bins", 80, 8, 1024);
  s.xscaling = f.flag(at + "scale_input", true);
  s.bias = f.flag(at + "attention_bias", true);
  s.convolution_bias = f.flag(at + "convolution_bias", true);
  s.bias_everywhere = s.convolution_bias == s.bias;
  require("num_key_value_heads", std::to_string(s.heads));
  require("head_dim", std::to_string(s.width / s.heads));
  require("hidden_act", "silu");
  require("subsampling_factor", "8");
  require("subsampling_conv_kernel_size", "3");
  require("subsampling_conv_stride", "2");
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0)
    fail({.where = f.source,
          .what = at + "hidden_size, num_attention_heads and conv_kernel_size",
          .expected = "an even width that the heads divide, and an odd kernel",
          .found = std::to_string(s.width) + ", " + std::to_string(s.heads) + ", " + std::to_string(s.taps)});
  if (s.streaming)
    read_streaming(f, at, s);
  else
    read_contexts(f, at, s);
}

void read_folder_heads(const checkpoint_settings& f, parakeet_folder_settings& s) {
  const std::uint32_t usual = s.prompts.count > 0            ? 13088
                              : s.transducer && !s.streaming ? 8193
                                                             : 1025,
                      outputs = f.number("vocab_size", usual, 2, (1u << 20) + 1);
  s.vocabulary = outputs - 1;
  const char* const blank = s.transducer ? "blank_token_id" : "pad_token_id";
  if (const std::uint32_t id = id_of(f, blank, usual - 1); id != s.vocabulary)
    refuse_key(f, blank, std::to_string(s.vocabulary) + ", the last of vocab_size", std::to_string(id));
  if (!s.transducer) return;
  (void)id_of(f, "pad_token_id", 2);  // of batches; label 0 where the vocabulary has no <pad>
  s.predictor = f.number("decoder_hidden_size", 640, 1, limits::width);
  s.joint = f.number("joint_hidden_size", s.predictor, 1, limits::width);
  s.predictor_layers = f.number("num_decoder_layers", 2, 1, 64);
  s.max_symbols = f.number("max_symbols_per_step", 10, 1, limits::symbols_per_frame);
  if (!f.is_null("hidden_act")) f.require("hidden_act", "relu");
  if (s.kind == "rnnt" && !f.numbers("durations", {}, 0, 1024).empty())
    refuse_key(f, "durations", "none of an RNN-T", "some");
  if (s.kind != "tdt") return;
  const std::vector<int> durations = f.numbers("durations", {0, 1, 2, 3, 4}, 0, 1024);
  if (durations.empty() || durations.size() > 64)
    refuse_key(f, "durations", "1 to 64 numbers of frames", std::to_string(durations.size()));
  s.durations.assign(durations.begin(), durations.end());
  check_durations(s, f.source);
}

void read_generation(const fs::path& file, parakeet_folder_settings& s) {
  if (!fs::is_regular_file(file)) return;
  const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
  const std::uint32_t start = id_of(f, "decoder_start_token_id", s.vocabulary);
  if (s.transducer && start != s.vocabulary)
    refuse_key(f, "decoder_start_token_id", std::to_string(s.vocabulary) + ", the blank", std::to_string(start));
  // The durations among the outputs, which are no labels.
  for (const int id : f.numbers("suppress_tokens", {}, 0, 1 << 24))
    if (id <= static_cast<int>(s.vocabulary))
      refuse_key(f, "suppress_tokens", "numbers behind the blank", std::to_string(id));
  huggingface::note_searches(f, s.notes);
  f.check_all_read({}, huggingface::with_any_class(of_folder_generation), s.notes);
}

// The languages of a processor's file and their prompts.
void read_folder_prompts(const checkpoint_settings& f, parakeet_folder_settings& s) {
  prompt_settings& p = s.prompts;
  if (p.count == 0) return;
  const std::uint32_t count = f.number("num_prompts", p.count, 1, 1u << 16);
  if (count != p.count)
    refuse_key(f, "num_prompts", std::to_string(p.count) + ", as config.json has it", std::to_string(count));
  if (const auto names = f.maps.find("prompt_dictionary"); names != f.maps.end())
    for (const std::string& name : names->second) {
      p.languages.names.push_back(name);
      p.languages.numbers.push_back(static_cast<int>(f.number("prompt_dictionary." + name, 1u << 16, 0, 1u << 16)));
    }
  check_prompts(p, f.source, "prompt_dictionary");
}

// The extractor of a file: its own settings, or those under "feature_extractor". Nothing where there is none.
std::optional<frontends::nemo_mel_options> read_extractor(const fs::path& file, bool processor,
                                                          parakeet_folder_settings& s,
                                                          std::vector<std::string>& notes) {
  if (!fs::is_regular_file(file)) return std::nullopt;
  const checkpoint_settings f = json_settings(file.string(), read_json_object(file));
  const bool nested = f.maps.contains("feature_extractor");
  const std::string at = nested ? "feature_extractor." : "";
  prefixed_settings known_keys;
  known_keys.add(at, of_folder_extractor);
  std::optional<frontends::nemo_mel_options> found;
  if (nested || !processor) {
    frontends::nemo_mel_options o = s.frontend.mel;
    const char* const extractor = s.streaming ? "NemotronAsrStreamingFeatureExtractor" : "ParakeetFeatureExtractor";
    if (!f.is_null(at + "feature_extractor_type") &&
        f.text(at + "feature_extractor_type", "") != "Nemotron3_5AsrFeatureExtractor")
      f.require(at + "feature_extractor_type", extractor);
    if (!f.is_null(at + "sampling_rate")) f.require(at + "sampling_rate", 16000.0);
    const std::uint32_t mels = f.number(at + "feature_size", 80, 1, 1u << 20);
    if (static_cast<extent>(mels) != o.mels)
      refuse_key(f, at + "feature_size", std::to_string(o.mels) + ", the encoder's num_mel_bins", std::to_string(mels));
    o.fft_size = f.number(at + "n_fft", 512, 16, 8192);
    o.window = f.number(at + "win_length", 400, 2, 8192);
    o.shift = f.number(at + "hop_length", 160, 1, 8192);
    if (f.is_null(at + "preemphasis"))
      o.preemphasis.reset();
    else
      o.preemphasis = static_cast<float>(f.real(at + "preemphasis", 0.97, 0, 1));
    found = o;
  }
  if (processor) {
    if (!f.is_null("decoder_type")) f.require("decoder_type", s.kind);
    constexpr unused_setting of_processor[] = {{"processor_class", of_transformers},
                                               {"transformers_version", of_transformers},
                                               {"tokenizer", of_transformers}};
    known_keys.add("", of_processor);
    if (s.streaming) known_keys.add("", of_streaming_processor);
    read_folder_prompts(f, s);
  }
  const std::string_view everywhere[] = {""};
  f.check_all_read(everywhere, known_keys.all(), notes);
  return found;
}

void read_extractors(const fs::path& folder, parakeet_folder_settings& s) {
  std::optional<frontends::nemo_mel_options> known;
  for (const char* name : {"processor_config.json", "preprocessor_config.json"}) {
    const auto found = read_extractor(folder / name, name[3] == 'c', s, s.notes);
    if (!found) continue;
    if (known && (known->fft_size != found->fft_size || known->window != found->window ||
                  known->shift != found->shift || known->preemphasis != found->preemphasis))
      fail({.where = (folder / name).string(),
            .what = "n_fft, win_length, hop_length and preemphasis",
            .expected = "those of processor_config.json",
            .found = "others"});
    known = found;
  }
  if (s.prompts.count > 0 && s.prompts.languages.names.empty())
    fail({.where = folder.string(),
          .what = "there is no processor_config.json",
          .expected = "the languages of its prompt_dictionary"});
  if (known) s.frontend.mel = *known;
  if (!known && s.frontend.mel.mels != 80)
    fail({.where = folder.string(),
          .what = "there is no preprocessor_config.json",
          .expected = "settings of features with " + std::to_string(s.frontend.mel.mels) + " bands"});
  check_frontend(s, folder.string());
}

void check_token_files(const fs::path& folder, std::vector<std::string>& notes) {
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!fs::is_regular_file(folder / name)) continue;
    const checkpoint_settings f = json_settings((folder / name).string(), read_json_object(folder / name));
    for (const char* key : {"add_bos_token", "add_eos_token", "do_lower_case", "split_special_tokens"})
      if (!f.is_null(key)) f.require(key, "false");
    f.check_all_read({}, of_folder_tokens, notes);
  }
}

}  // namespace

parakeet_folder_settings read_parakeet_folder(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  const checkpoint_settings f = json_settings(config.string(), read_json_object(config));
  parakeet_folder_settings s;
  const std::string type = f.text("model_type", "");
  for (const char* kind : {"ctc", "tdt", "rnnt"})
    if (type == std::string("parakeet_") + kind) s.kind = kind;
  s.streaming = type == "nemotron3_5_asr" || type == "nemotron_asr_streaming";
  if (s.streaming) s.kind = "rnnt";
  if (s.kind.empty())
    fail({.where = config.string(),
          .what = "model_type is not supported",
          .expected = "parakeet_ctc, parakeet_tdt, parakeet_rnnt, nemotron3_5_asr or nemotron_asr_streaming",
          .found = steno::weights::quoted(type)});
  s.transducer = s.kind != "ctc";
  if (type == "nemotron3_5_asr") {
    s.prompts.count = f.number("num_prompts", 128, 1, 1u << 16);
    s.prompts.languages.usual = static_cast<int>(f.number("default_prompt_id", 101, 0, s.prompts.count - 1));
  }
  read_folder_encoder(f, s);
  read_folder_heads(f, s);
  if (s.prompts.count > 0) s.prompts.inner = f.number("prompt_intermediate_size", 2048, 1, 1u << 22);
  prefixed_settings known_keys;
  known_keys.add("encoder_config.", huggingface::with_any_class(of_folder_encoder));
  known_keys.add("", huggingface::with_any_class(of_folder_model));
  std::vector<unused_setting> searching;
  huggingface::add_search_keys(searching, "generation_config.json says it");
  for (const char* at : {"", "encoder_config."}) known_keys.add(at, searching);
  // Where an unknown key may change the text.
  constexpr std::string_view of_models[] = {"encoder_config", "decoder", "joint",
                                            "durations",      "hidden",  "quantization"};
  f.check_all_read(of_models, known_keys.all(), s.notes);
  read_generation(folder / "generation_config.json", s);
  read_extractors(folder, s);
  check_token_files(folder, s.notes);
  return s;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
