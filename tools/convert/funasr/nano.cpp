// tools/convert/funasr/nano.cpp - see nano.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/nano.hpp"

#include <steno/error.hpp>
#include <steno/models/fun_asr_nano.hpp>

#include <algorithm>
#include <iterator>

#include "funasr/ctc_tokenizer.hpp"
#include "limits.hpp"
#include "qwen/qwen3_asr.hpp"
#include "torch/tensors.hpp"
#include "transformers_files.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view nano_training = "training alone reads it",
                           nano_unread = "FunASR keeps it and does not read it";
constexpr std::string_view replaced = "weights from elsewhere, in whose place model.pt's come";
// Of dataset_conf, unlike in other models, some keys change what is computed.
constexpr unused_setting unused_by_nano[] = {
    {"*.activation_checkpoint", nano_training},
    {"*_adaptor_conf.init_param_path", replaced},
    {"ctc_decoder_conf.init_param_path", replaced},
    {"audio_adaptor_conf.encoder_dim", "FunASR counts it anew"},
    {"audio_adaptor_conf.llm_dim", "FunASR counts it anew"},
    {"ctc_decoder_conf.encoder_dim", "FunASR counts it anew"},
    {"audio_encoder_conf.feat_permute", "turns the features twice, or not at all"},
    {"llm", "a name; llm_conf.init_param_path says which language model it is"},
    {"llm_conf.hub", nano_unread},
    {"llm_conf.llm_dtype", "of the first call alone; every later one computes in f32"},
    {"llm_conf.lora_conf", "use_lora is off",
     "bias freeze_lora init_param_path lora_alpha lora_dropout r target_modules task_type"},
    {"detach_ctc_decoder", nano_training},
    {"ctc_weight", nano_training},
    {"dataset_conf.audio_adaptor_downsample_rate", nano_training},
    {"dataset_conf.audio_encoder_downsample_rate", nano_training},
    {"dataset_conf.batch_sampler", nano_training},
    {"dataset_conf.batch_size", nano_training},
    {"dataset_conf.batch_size_sample_max", nano_training},
    {"dataset_conf.batch_size_scale_ratio_max", nano_training},
    {"dataset_conf.batch_size_token_max", nano_training},
    {"dataset_conf.batch_type", nano_training},
    {"dataset_conf.buffer_size", nano_training},
    {"dataset_conf.data_split_num", nano_training},
    {"dataset_conf.dataloader", nano_training},
    {"dataset_conf.index_ds", nano_training},
    {"dataset_conf.max_source_length", nano_training},
    {"dataset_conf.max_target_length", nano_training},
    {"dataset_conf.max_text_length", nano_training},
    {"dataset_conf.max_token_length", nano_training},
    {"dataset_conf.min_source_length", nano_training},
    {"dataset_conf.min_target_length", nano_training},
    {"dataset_conf.min_text_length", nano_training},
    {"dataset_conf.min_token_length", nano_training},
    {"dataset_conf.multiturn_num_max", nano_training},
    {"dataset_conf.num_workers", nano_training},
    {"dataset_conf.permute", nano_training},
    {"dataset_conf.pin_memory", nano_training},
    {"dataset_conf.preprocessor_speech", nano_training},
    {"dataset_conf.preprocessor_text", nano_training},
    {"dataset_conf.prompt_classes", nano_training},
    {"dataset_conf.prompt_ids", nano_training},
    {"dataset_conf.retry", nano_training},
    {"dataset_conf.shuffle", nano_training},
    {"dataset_conf.sort_size", nano_training},
    {"dataset_conf.use_dynamic_output_ratio", nano_training},
    {"*ctc_tokenizer_conf.language", "chooses a token that no text begins with"},
    {"*ctc_tokenizer_conf.task", "chooses a token that no text begins with"},
};

adaptor_settings read_adaptor(const checkpoint_settings& f, const std::string& at) {
  adaptor_settings s;
  const auto number = [&](const char* key, std::uint32_t& value, std::uint32_t min, std::uint32_t max = 65536) {
    value = f.number(at + key, value, min, max);
  };
  number(".downsample_rate", s.rate, 1);
  number(".ffn_dim", s.units, 1);
  number(".llm_dim", s.output, 4);
  number(".attention_heads", s.heads, 1);
  number(".n_layer", s.layers, 0, limits::layers);
  return s;
}

void promise(checkpoint_tensors& from, const std::string& at, const adaptor_settings& s) {
  const auto in = static_cast<extent>(s.input) * static_cast<extent>(s.rate), d = static_cast<extent>(s.output);
  const auto units = static_cast<extent>(s.units);
  from.sizes.push_back({at + ".linear1.weight", units, in});
  from.sizes.push_back({at + ".linear2.weight", d, units});
  from.sizes.push_back({at + ".blocks.*.w_1.weight", d / 4, d});
  from.counts.push_back({at + ".blocks", static_cast<extent>(s.layers)});
}

void promise_ctc(checkpoint_tensors& from, const nano_settings& s) {
  promise(from, "ctc_decoder", s.ctc_decoder);
  from.sizes.push_back(
      {"ctc.ctc_lo.weight", static_cast<extent>(s.ctc_labels), static_cast<extent>(s.ctc_decoder.output)});
}

// A language model that shares its embedding says so by storing it twice, or once.
bool is_tied(torch::checkpoint& c) {
  const auto *head = c.find("llm.lm_head.weight"), *table = c.find("llm.model.embed_tokens.weight");
  if (head == nullptr) return true;
  if (table == nullptr || head->shape != table->shape || head->type != table->type) return false;
  const std::size_t size = static_cast<std::size_t>(head->count) * torch::size_of_scalar(head->type);
  std::vector<std::byte> a(size), b(size);
  c.read_bytes(*head, a);
  c.read_bytes(*table, b);
  return a == b;
}

// What of the model makes times.
struct ctc_branch {
  nn::audio_adaptor<nn::audio_adaptor_sizes{}> ctc_decoder;
  nn::linear<dynamic, dynamic> ctc_lo;

  void members(auto&& v) {
    v("ctc_decoder", ctc_decoder);
    v("ctc.ctc_lo", ctc_lo);
  }
};
bool of_ctc(const stored_tensor& t) { return t.name.starts_with("ctc_decoder.") || t.name.starts_with("ctc."); }

void set_keys(weights::gguf_writer& file, const char* at, const adaptor_settings& s) {
  file.set(std::string("fun_asr_nano.").append(at).append(".attention_heads"), s.heads);
  file.set(std::string("fun_asr_nano.").append(at).append(".downsample_rate"), s.rate);
}

// All or nothing, as FunASR's disable_incomplete_ctc(): whether every tensor of the CTC branch is there in its shape.
// If not, `from` is left without them, and a note says why.
bool holds_ctc(checkpoint_tensors& from, const nano_settings& s, std::vector<std::string>& notes) {
  checkpoint_tensors part{.where = from.where};
  std::copy_if(from.all.begin(), from.all.end(), std::back_inserter(part.all), of_ctc);
  if (!s.ctc) {
    if (part.all.empty()) return false;
    notes.push_back(from.where + ": " + std::to_string(part.all.size()) +
                    " tensors of a CTC decoder are left out, for config.yaml names none");
  } else {
    promise_ctc(part, s);
    weights::gguf_writer writer;
    set_keys(writer, "ctc_decoder", s.ctc_decoder);
    const gguf_file keys(from.where, writer.keys());
    tensor_taker taker(keys, "fun_asr_nano", part);
    ctc_branch branch;
    core::walk(branch, taker);
    try {
      (void)taker.finish();
      return true;
    } catch (const tensors_differ& e) {
      std::string first;
      std::size_t lacking = 0;
      for (const tensor_problem& p : e.problems)
        if (p.what != tensor_problem::kind::unexpected && lacking++ == 0) first = p.text();
      if (lacking == 0) throw;  // it is complete, and has what config.yaml does not know of
      notes.push_back(part.all.empty()
                          ? from.where + ": holds no CTC decoder, although config.yaml names one: words have no times"
                          : from.where + ": the CTC decoder is incomplete and left out, so words have no times: " +
                                first + (lacking > 1 ? ", and " + std::to_string(lacking - 1) + " more" : ""));
    }
  }
  std::erase_if(from.all, of_ctc);
  return false;
}

// The table of the CTC head's tokens: where the settings name it, else beside config.yaml.
void read_ctc_tokenizer(const folder& f, nano_settings& s) {
  const bool above = f.has("ctc_tokenizer") || f.maps.contains("ctc_tokenizer_conf");
  if (above)  // what stands in dataset_conf does not count then
    for (const auto& [key, value] : f.settings)
      if (key.starts_with("dataset_conf.ctc_tokenizer")) f.mark_read(key);
  const std::string own = above ? "" : "dataset_conf.";
  f.require(own + "ctc_tokenizer", "SenseVoiceTokenizer");
  const std::string conf = own + "ctc_tokenizer_conf";
  f.require(conf + ".is_multilingual", "true");
  s.ctc_languages = f.number(conf + ".num_languages", 8749, 1, 1u << 24);
  s.ctc_tokens = f.file_if_there(conf + ".vocab_path");
  if (const fs::path beside = f.root / "multilingual.tiktoken"; !s.ctc_tokens && fs::exists(beside))
    s.ctc_tokens = beside;
}

void set_ctc_keys(weights::gguf_writer& file, const nano_settings& s, std::vector<std::string>& notes) {
  set_keys(file, "ctc_decoder", s.ctc_decoder);
  file.set("fun_asr_nano.ctc.blank_id", s.ctc_blank);
  if (!s.ctc_tokens) {
    notes.push_back(
        "multilingual.tiktoken is not in the folder: the CTC decoder has no tokenizer, so words have no times");
    return;
  }
  const std::vector<std::string> tokens = read_tiktoken(*s.ctc_tokens, s.ctc_labels);
  const std::vector<std::string> special =
      ctc_special_tokens(s.ctc_languages, s.ctc_labels - static_cast<std::uint32_t>(tokens.size()));
  file.set("fun_asr_nano.ctc.tokens", tokens);
  if (!special.empty()) file.set("fun_asr_nano.ctc.special_tokens", special);
}

}  // namespace

void walk_nano(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::fun_asr_nano_any>(keys, taker); }

nano_settings read_nano_settings(const folder& f, std::vector<std::string>& notes) {
  nano_settings s;
  constexpr std::uint32_t wide = 65536, deep = limits::layers;
  const auto encoder = [&](const char* key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) {
    return f.number(std::string("audio_encoder_conf.") + key, otherwise, min, max);
  };
  require_frontend(f, "WavFrontend");
  s.frontend = read_frontend(f);
  s.encoder.input = s.frontend.width();
  s.encoder.output_size = encoder("output_size", 256, 1, wide);
  s.encoder.linear_units = encoder("linear_units", 2048, 1, wide);
  s.encoder.num_blocks = encoder("num_blocks", 6, 1, deep);
  s.encoder.tp_blocks = encoder("tp_blocks", 0, 0, deep);
  s.encoder.kernel_size = encoder("kernel_size", 11, 1, 1023);
  s.encoder_heads = encoder("attention_heads", 4, 1, 1024);
  s.adaptor = read_adaptor(f, "audio_adaptor_conf");
  s.adaptor.input = s.encoder.output_size;
  s.low_frame_rate = f.flag("audio_adaptor_conf.use_low_frame_rate", false);
  s.think = f.flag("dataset_conf.do_think", true);
  s.language_model = f.named_file("llm_conf.init_param_path").value_or(f.root / "Qwen3-0.6B");
  s.tokenizer = f.named_file("tokenizer_conf.init_param_path").value_or(s.language_model);

  s.ctc = f.has("ctc_decoder");
  if (s.ctc) f.require("ctc_decoder", "Transformer");
  s.ctc_decoder = read_adaptor(f, "ctc_decoder_conf");
  s.ctc_decoder.input = s.encoder.output_size;
  s.ctc_labels = f.number("ctc_vocab_size", s.ctc_labels, 2, 1u << 24);
  s.ctc_blank = f.number("ctc_conf.blank_id", s.ctc_labels - 1, 0, s.ctc_labels - 1);
  read_ctc_tokenizer(f, s);

  // Other values of these exist in FunASR and compute something else.
  f.require("audio_encoder", "SenseVoiceEncoderSmall");
  require_sanm_encoder(f, "audio_encoder_conf");
  f.require("audio_adaptor", "Transformer");
  f.require("llm_conf.use_lora", "false");
  f.require("ctc_conf.extra_linear", "true");
  f.require("dataset_conf.sys_prompt", "true");
  f.require("tokenizer", "HuggingfaceTokenizer");
  f.require("normalize", "null");
  f.require("itn", "true");  // arguments of generate(), which config.yaml may hold
  f.require("language", "null");
  check_settings(f, unused_by_nano, notes);
  return s;
}

imported_model import_nano(const folder& f, const std::optional<fs::path>& cmvn) {
  if (cmvn || f.cmvn) fail({.where = f.config.string(), .what = "a CMVN file: Fun-ASR-Nano's features have none"});
  imported_model model;
  nano_settings s = read_nano_settings(f, model.notes);
  const qwen_files::decoder_settings llm =
      qwen_files::read_decoder_config(s.language_model / "config.json", model.notes);
  s.adaptor.output = llm.width;

  weights::gguf_writer& file = model.file;
  file.set("general.architecture", "fun_asr_nano");
  file.set("general.name", s.low_frame_rate ? "Fun-ASR-Nano" : "Fun-ASR-MLT-Nano");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  const auto set = [&](const char* key, std::uint32_t value) {
    file.set(std::string("fun_asr_nano.").append(key), value);
  };
  set("audio_encoder.output_size", s.encoder.output_size);
  set("audio_encoder.attention_heads", s.encoder_heads);
  set("audio_encoder.kernel_size", s.encoder.kernel_size);
  set_keys(file, "audio_adaptor", s.adaptor);
  set("llm.rope_theta", llm.theta);
  set("use_low_frame_rate", s.low_frame_rate ? 1 : 0);
  set("do_think", s.think ? 1 : 0);
  set_frontend_keys(file, "fun_asr_nano.", s.frontend);
  if (const auto ends = qwen_files::read_ends(s.language_model / "config.json"); !ends.empty())
    file.set("fun_asr_nano.eos_ids", ends);
  qwen_files::add_tokenizer(file, s.tokenizer, llm.vocabulary);
  huggingface::check_tokenizer_options(s.tokenizer, model.notes);

  const auto checkpoint = std::make_shared<torch::checkpoint>(f.weights);
  checkpoint_tensors from{.where = f.weights.string(), .all = torch::stored_tensors(checkpoint)};
  model.where = from.where;
  if (holds_ctc(from, s, model.notes)) {
    set_ctc_keys(file, s, model.notes);
    promise_ctc(from, s);
  }
  promise_sanm(from, "audio_encoder.", s.encoder);
  promise(from, "audio_adaptor", s.adaptor);
  const bool tied = is_tied(*checkpoint);
  if (tied) std::erase_if(from.all, [](const stored_tensor& t) { return t.name == "llm.lm_head.weight"; });
  qwen_files::promise(from, "llm.", llm, !tied);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
