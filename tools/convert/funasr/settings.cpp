// tools/convert/funasr/settings.cpp - see settings.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "funasr/folder.hpp"
#include "gguf_import.hpp"
#include "gguf_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

// Where an unknown setting may change the result. Keys of the first level are arguments of the model, and of
// generate() as well: a beam search, a language model, the language that is asked for.
constexpr std::string_view sections[] = {"frontend",
                                         "encoder",
                                         "decoder",
                                         "predictor",
                                         "tokenizer",
                                         "model_conf",
                                         "ctc",
                                         "normalize",
                                         "seaco_",
                                         "audio_",
                                         "llm",
                                         "bias_",
                                         "inner_dim",
                                         "input_",
                                         "punc",
                                         "jieba",
                                         "sos",
                                         "eos",
                                         "blank_",
                                         "decoding_",
                                         "lm_",
                                         "nbest",
                                         "beam_",
                                         "penalty",
                                         "maxlenratio",
                                         "minlenratio",
                                         "language",
                                         "itn",
                                         "max_length",
                                         "skip_special_tokens",
                                         "dataset_conf.ctc_",
                                         "dataset_conf.do_think",
                                         "dataset_conf.sys_prompt",
                                         "use_itn",
                                         "text_norm",
                                         "ban_emo_unk",
                                         "hotword",
                                         "clas_scale",
                                         "scope_map",
                                         "excludes",
                                         "max_end_silence_time",
                                         "speech_noise_thres",
                                         "dynamic_silence",
                                         "silence_schedule"};

constexpr std::string_view training = "training alone reads it",
                           splits = "splits transcripts for training; recognition joins tokens",
                           machine = "says where and how the program runs", counted = "FunASR counts it anew";
constexpr unused_setting unused[] = {
    {"*.dropout_rate", training},
    {"*_dropout_rate", training},
    {"*.dropout", training},
    {"*.freeze", training},
    {"*.freeze_layer_num", training},
    {"*.tf2torch_tensor_name_prefix_tf", "for converting from TensorFlow"},
    {"*.tf2torch_tensor_name_prefix_torch", "for converting from TensorFlow"},
    {"*.lora_alpha", "no layer is named in lora_list"},
    {"*.lora_rank", "no layer is named in lora_list"},
    {"*.pos_enc_class", "input_layer says which positions there are"},
    {"*.padding_idx", "of an embedding that input_layer does not have"},
    {"*.stochastic_depth_rate", training},
    {"*.interctc_layer_idx", "more outputs for training"},
    {"frontend_conf.dither", "noise for training; steno's features have none, so results are the same every time"},
    {"frontend_conf.filter_length_max", "FunASR keeps it and does not read it"},
    {"frontend_conf.filter_length_min", "FunASR keeps it and does not read it"},
    {"tokenizer_conf.non_linguistic_symbols", splits},
    {"tokenizer_conf.remove_non_linguistic_symbols", splits},
    {"tokenizer_conf.seg_dict", splits},
    {"tokenizer_conf.seg_dict_file", splits},
    {"tokenizer_conf.split_with_space", splits},
    {"tokenizer_conf.unk_symbol", splits},
    {"ctc_conf.ctc_type", training},
    {"ctc_conf.reduce", training},
    {"ctc_conf.ignore_nan_grad", training},
    {"model_conf.ignore_id", training},
    {"model_conf.length_normalized_loss", training},
    {"model_conf.lsm_weight", training},
    {"specaug", training},
    {"specaug_conf", training,
     "apply_freq_mask apply_time_mask apply_time_warp freq_mask_width_range lfr_rate num_freq_mask num_time_mask "
     "time_mask_width_ratio_range time_mask_width_range time_warp_mode time_warp_window"},
    {"train_conf", training,
     "accum_grad avg_keep_nbest_models_type avg_nbest_model best_model_criterion deepspeed_config "
     "early_stopping_patience effective_save_name_excludes find_unused_parameters grad_clip grad_clip_type "
     "keep_nbest_models log_interval max_epoch patience resume save_checkpoint_interval sort_in_batch "
     "unused_parameters use_amp use_bf16 use_deepspeed val_scheduler_criterion validate_interval"},
    {"optim", training},
    {"optim_conf", training, "amsgrad betas eps lr weight_decay"},
    {"scheduler", training},
    {"scheduler_conf", training, "d_model num_warmup_steps total_steps warmup_steps"},
    {"dataset", training},
    {"train_data_set_list", training},
    {"valid_data_set_list", training},
    {"freeze_param", training},
    {"is_training", training},
    {"use_ddp", training},
    {"use_fsdp", training},
    {"use_deepspeed", training},
    {"deepspeed_config", training},
    {"config", machine},
    {"cudnn_benchmark", machine},
    {"cudnn_deterministic", machine},
    {"cudnn_enabled", machine},
    {"debug", machine},
    {"device", machine},
    {"disable_log", machine},
    {"disable_pbar", machine},
    {"disable_update", machine},
    {"enable_tf32", machine},
    {"hub", machine},
    {"log_level", machine},
    {"model_path", machine},
    {"model_revision", machine},
    {"ncpu", machine},
    {"ngpu", machine},
    {"output_dir", machine},
    {"seed", machine},
    {"trust_remote_code", machine},
    {"init_param", "a path where it was trained; the folder's own weights are read"},
    {"input_size", counted},
    {"vocab_size", counted},
};

// Unless the model's own list says what becomes of its keys.
constexpr unused_setting unused_data = {
    "dataset_conf", training,
    "audio_adaptor_downsample_rate audio_encoder_downsample_rate batch_sampler batch_size batch_size_sample_max "
    "batch_size_scale_ratio_max batch_size_token_max batch_type buffer_size data_split_num dataloader index_ds "
    "is_multilingual max_source_length max_target_length max_text_length max_token_length min_source_length "
    "min_target_length min_text_length min_token_length num_languages num_workers permute pin_memory "
    "preprocessor_speech preprocessor_speech_conf preprocessor_text preprocessor_text_conf prompt_classes "
    "prompt_ids retry shuffle sort_size speed_perturb target_num use_dynamic_output_ratio vocab_path"};

// configuration.json: the hub's words on the model, and the files.
constexpr std::string_view file_sections[] = {"file_path_metas"};
constexpr std::string_view hub = "the hub's words on the model";
constexpr unused_setting unused_names[] = {
    {"framework", hub},
    {"task", hub},
    {"model", hub, "type"},
    {"pipeline", hub, "type"},
    {"model_name_in_hub", hub, "hf ms"},
    {"file_path_metas.tokenizer_conf.seg_dict", splits},
    {"file_path_metas.tokenizer_conf.seg_dict_file", splits},
};

}  // namespace

frontend_settings read_frontend(const checkpoint_settings& f, frontend_settings s) {
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(std::string("frontend_conf.") + key, value, 1, max);
  };
  read("fs", s.sample_rate, 384000);
  read("n_mels", s.n_mels, 1024);
  read("frame_length", s.frame_length, 1000);
  read("frame_shift", s.frame_shift, 1000);
  read("lfr_m", s.lfr_m, 64);
  read("lfr_n", s.lfr_n, 64);
  s.window = f.text("frontend_conf.window", s.window);
  f.require("frontend_conf.snip_edges", "true");
  f.require("frontend_conf.upsacle_samples", "true");
  return s;
}

void require_frontend(const checkpoint_settings& f, const std::string& name) {
  if (name != "WavFrontend" || f.text("frontend", name) != "wav_frontend") f.require("frontend", name);
}

void set_frontend_keys(weights::gguf_writer& file, const std::string& at, const frontend_settings& s) {
  file.set(at + "frontend.sample_rate", s.sample_rate);
  file.set(at + "frontend.window", s.window);
  file.set(at + "frontend.n_mels", s.n_mels);
  file.set(at + "frontend.frame_length", s.frame_length);
  file.set(at + "frontend.frame_shift", s.frame_shift);
  file.set(at + "frontend.lfr_m", s.lfr_m);
  file.set(at + "frontend.lfr_n", s.lfr_n);
}

void require_sanm_encoder(const checkpoint_settings& f, const std::string& at, const std::string& input_layer,
                          std::uint32_t shift) {
  f.require(at + ".input_layer", input_layer);
  f.require(at + ".normalize_before", "true");
  f.require(at + ".concat_after", "false");
  f.require(at + ".positionwise_layer_type", "linear");
  f.require(at + ".positionwise_conv_kernel_size", "1");
  f.require(at + ".interctc_use_conditioning", "false");
  f.require(at + ".lora_list", "null");
  f.require(at + ".sanm_shfit", std::to_string(shift));
  f.require(at + ".selfattention_layer_type", "sanm");
}

void check_settings(const folder& f, std::span<const unused_setting> own, std::vector<std::string>& notes) {
  std::vector<unused_setting> all(std::begin(unused), std::end(unused));
  all.insert(all.end(), own.begin(), own.end());
  if (std::none_of(own.begin(), own.end(), [](const unused_setting& u) { return u.key.starts_with("dataset_conf."); }))
    all.push_back(unused_data);
  f.check_all_read(sections, all, notes);
  f.names.check_all_read(file_sections, unused_names, notes);
}

published_keys::published_keys(const gguf_file& file) : file_(file), settings_(gguf_settings(file)) {}

std::uint32_t published_keys::number(const char* key, std::uint32_t min, std::uint32_t max) const {
  settings_.mark_read(key);
  return whole_number(file_, key, min, max);
}

double published_keys::real(const char* key, double otherwise, double min, double max) const {
  return settings_.real(key, otherwise, min, max);
}

std::optional<std::uint32_t> published_keys::optional_number(const char* key, std::uint32_t min,
                                                             std::uint32_t max) const {
  return settings_.has(key) ? std::optional(number(key, min, max)) : std::nullopt;
}

bool published_keys::flag(const char* key, bool otherwise) const {
  const std::string value = settings_.text(key, otherwise ? "true" : "false");
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  fail({.where = file_.where(),
        .what = "key " + steno::weights::quoted(key),
        .expected = "true or false, 1 or 0",
        .found = steno::weights::quoted(value)});
}

std::string published_keys::text(const char* key, const std::string& otherwise) const {
  return settings_.text(key, otherwise);
}

std::vector<std::string> published_keys::strings(const char* key) const {
  settings_.mark_read(key);
  return file_.has(key) ? file_.strings(key) : std::vector<std::string>();
}

std::vector<double> published_keys::numbers(const char* key) const {
  settings_.mark_read(key);
  return file_.has(key) ? file_.numbers(key) : std::vector<double>();
}

void published_keys::check(std::string_view prefix, std::span<const unused_setting> own,
                           std::vector<std::string>& notes) const {
  std::vector<unused_setting> all(own.begin(), own.end());
  all.push_back({"general", "says nothing of the network", general_gguf_keys});
  settings_.check_all_read(std::array{prefix}, all, notes);
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
