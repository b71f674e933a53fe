// tools/convert/wenet/u2_settings.cpp - what train.yaml says of a U2 model; see u2.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/kernels/epilogue.hpp>

#include <utility>

#include "../number_text.hpp"
#include "limits.hpp"
#include "wenet/folder.hpp"
#include "wenet/u2.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace wenet_files {

namespace {

std::uint32_t rate_of(const folder& f) {
  const std::string layer = f.text("encoder_conf.input_layer", "conv2d");
  if (layer == "conv2d" || layer == "conv2d4") return 4;
  if (layer == "conv2d6") return 6;
  if (layer == "conv2d8") return 8;
  fail({.where = f.config.string(),
        .what = "encoder_conf.input_layer is not supported",
        .expected = "conv2d, conv2d6 or conv2d8",
        .found = steno::weights::quoted(layer)});
}

std::uint32_t activation_of(const folder& f, const std::string& key, const std::string& otherwise) {
  const std::string name = f.text(key, otherwise);
  using kernels::activation;
  for (const auto& [known, act] : {std::pair{"relu", activation::relu},
                                   {"gelu", activation::gelu},
                                   {"swish", activation::silu},
                                   {"silu", activation::silu}})
    if (name == known) return static_cast<std::uint32_t>(act);
  fail({.where = f.config.string(),
        .what = key,
        .expected = "relu, gelu or swish",
        .found = steno::weights::quoted(name)});
}

// Other values of these exist in WeNet and compute something else.
void require_known_parts(const folder& f, bool conformer) {
  f.require("model", "asr_model");
  f.require("ctc", "ctc");
  f.require("encoder_conf.normalize_before", "true");
  f.require("encoder_conf.layer_norm_type", "layer_norm");
  f.require("encoder_conf.mlp_type", "position_wise_feed_forward");
  for (const char* key :
       {"encoder_conf.query_bias", "encoder_conf.key_bias", "encoder_conf.value_bias", "encoder_conf.mlp_bias",
        "encoder_conf.conv_bias", "encoder_conf.final_norm", "decoder_conf.normalize_before",
        "decoder_conf.use_output_layer", "decoder_conf.src_attention", "decoder_conf.query_bias",
        "decoder_conf.key_bias", "decoder_conf.value_bias", "decoder_conf.src_query_bias", "decoder_conf.src_key_bias",
        "decoder_conf.src_value_bias", "decoder_conf.mlp_bias"})
    f.require(key, "true");
  for (const char* key : {"encoder_conf.norm_eps", "encoder_conf.conv_norm_eps", "decoder_conf.norm_eps"})
    f.require(key, 1e-5);
  f.require("encoder_conf.concat_after", "false");
  f.require("decoder_conf.concat_after", "false");
  f.require("encoder_conf.positionwise_conv_kernel_size", "1");
  f.require("encoder_conf.conv_inner_factor", "2");
  f.require("decoder_conf.input_layer", "embed");
  f.require("decoder_conf.activation_type", "relu");
  f.require("decoder_conf.layer_norm_type", "layer_norm");
  f.require("decoder_conf.tie_word_embedding", "false");
  f.require("decoder_conf.mlp_type", "position_wise_feed_forward");
  f.require("model_conf.apply_non_blank_embedding", "false");
  f.require("dataset_conf.feats_type", "fbank");
  f.require("dataset_conf.fbank_conf.window_type", "povey");
  f.require("dataset_conf.fbank_conf.frame_length", "25");
  f.require("dataset_conf.fbank_conf.frame_shift", "10");
  f.require("dataset_conf.resample_conf.resample_rate", "16000");
  f.require("tokenizer_conf.connect_symbol", "");
  if (const std::string t = f.text("tokenizer", "char"); t != "char" && t != "bpe")
    fail({.where = f.source,
          .what = "tokenizer is not supported",
          .expected = "char or bpe",
          .found = weights::quoted(t)});
  if (conformer) {
    f.require("encoder_conf.macaron_style", "true");
    f.require("encoder_conf.use_cnn_module", "true");
  }
}

bool relative_of(const folder& f, bool conformer) {
  const std::string positions = f.text("encoder_conf.pos_enc_layer_type", conformer ? "rel_pos" : "abs_pos");
  const std::string attention =
      f.text("encoder_conf.selfattention_layer_type", conformer ? "rel_selfattn" : "selfattn");
  if (positions == "rel_pos" && attention == "rel_selfattn") return true;
  if (positions == "abs_pos" && attention == "selfattn") return false;
  fail({.where = f.config.string(),
        .what = "encoder_conf.pos_enc_layer_type and selfattention_layer_type",
        .expected = "rel_pos with rel_selfattn, or abs_pos with selfattn",
        .found = steno::weights::quoted(positions).append(" with ").append(steno::weights::quoted(attention))});
}

// Where an unknown setting may change the text.
constexpr std::string_view sections[] = {"cmvn",
                                         "ctc",
                                         "encoder",
                                         "decoder",
                                         "model_conf",
                                         "tokenizer",
                                         "input_",
                                         "output_",
                                         "dataset_conf.fbank_conf",
                                         "dataset_conf.resample_conf"};

constexpr std::string_view training = "training alone reads it", same = "computes the same in another way",
                           splits = "splits transcripts for training; recognition joins units";
constexpr unused_setting unused[] = {
    {"*.gradient_checkpointing", training},
    {"*.dropout_rate", training},
    {"*_dropout_rate", training},
    {"*.use_sdpa", same},
    {"encoder_conf.use_dynamic_left_chunk", training},
    {"decoder_conf.r_num_blocks", "a decoder of one direction has none"},
    {"model_conf.ctc_weight", training},
    {"model_conf.lsm_weight", training},
    {"model_conf.length_normalized_loss", training},
    {"ctc_conf.reduction", training},
    {"tokenizer_conf.is_multilingual", "for Whisper's tokenizer"},
    {"tokenizer_conf.num_languages", "for Whisper's tokenizer"},
    {"tokenizer_conf.non_lang_syms_path", splits},
    {"tokenizer_conf.split_with_space", splits},
    {"tokenizer_conf.special_tokens", "the units hold them",
     "<blank> <eos> <sos> <sos/eos> <unk> eot no_speech no_timestamps sot sot_prev timestamp_begin transcribe "
     "translate"},
    {"dataset_conf.fbank_conf.dither", training},
    {"dataset", training},
    {"dataset_conf.batch_size", training},
    {"dataset_conf.batch_type", training},
    {"dataset_conf.batch_conf", training, "batch_size batch_type max_frames_in_batch max_seq_in_batch"},
    {"dataset_conf.cycle", training},
    {"dataset_conf.filter_conf", training,
     "max_length max_output_input_ratio min_length min_output_input_ratio token_max_length token_min_length"},
    {"dataset_conf.list_shuffle", training},
    {"dataset_conf.list_shuffle_conf", training, "shuffle_size"},
    {"dataset_conf.shuffle", training},
    {"dataset_conf.shuffle_conf", training, "shuffle_size"},
    {"dataset_conf.sort", training},
    {"dataset_conf.sort_conf", training, "sort_size"},
    {"dataset_conf.spec_aug", training},
    {"dataset_conf.spec_aug_conf", training, "max_f max_t max_w num_f_mask num_t_mask warp_for_time"},
    {"dataset_conf.spec_sub", training},
    {"dataset_conf.spec_sub_conf", training, "max_t num_t_sub"},
    {"dataset_conf.spec_trim", training},
    {"dataset_conf.spec_trim_conf", training, "max_t"},
    {"dataset_conf.speed_perturb", training},
    {"dataset_conf.speed_perturb_conf", training, "speeds"},
    {"dataset_conf.volume_perturb", training},
    {"accum_grad", training},
    {"dtype", training},
    {"epoch", training},
    {"find_unused_parameters", training},
    {"grad_clip", training},
    {"init_infos", training,
     "acc cv_loss epoch loss loss_att loss_ctc loss_dict lr lrs save_time step tag th_accuracy"},
    {"init_step", training},
    {"log_interval", training},
    {"loss_dict", training, "acc loss loss_att loss_ctc loss_rnnt th_accuracy"},
    {"lr", training},
    {"lrs", training},
    {"max_epoch", training},
    {"model_dir", training},
    {"optim", training},
    {"optim_conf", training, "amsgrad betas eps lr weight_decay"},
    {"save_interval", training},
    {"save_states", training},
    {"save_time", training},
    {"scheduler", training},
    {"scheduler_conf", training, "d_model max_steps min_lr warmup_ratio warmup_steps"},
    {"step", training},
    {"tag", training},
    {"train_engine", training},
    {"use_amp", training},
    {"vocab_size", "output_dim says it"},
};

}  // namespace

void check_settings(const folder& f, std::vector<std::string>& notes) { f.check_all_read(sections, unused, notes); }

u2_settings read_settings(const folder& f, std::size_t vocabulary) {
  u2_settings s;
  constexpr std::uint32_t wide = 65536, deep = limits::layers;
  const std::string encoder = f.text("encoder", "conformer"), decoder = f.text("decoder", "bitransformer");
  s.conformer = encoder == "conformer";
  if (!s.conformer) f.require("encoder", "transformer");
  s.bidirectional = decoder == "bitransformer";
  if (!s.bidirectional) f.require("decoder", "transformer");
  require_known_parts(f, s.conformer);
  const auto number = [&](const char* key, std::uint32_t& value, std::uint32_t min, std::uint32_t max) {
    value = f.number(key, value, min, max);
  };
  s.rate = rate_of(f);
  number("encoder_conf.output_size", s.width, 2, wide);
  number("encoder_conf.attention_heads", s.heads, 1, 1024);
  number("encoder_conf.linear_units", s.units, 1, wide);
  number("encoder_conf.num_blocks", s.blocks, 1, deep);
  number("decoder_conf.attention_heads", s.decoder_heads, 1, 1024);
  number("decoder_conf.linear_units", s.decoder_units, 1, wide);
  number("decoder_conf.num_blocks", s.decoder_blocks, 1, deep);
  if (s.bidirectional) number("decoder_conf.r_num_blocks", s.reverse_blocks, 0, deep);
  if (s.bidirectional && s.reverse_blocks == 0)
    fail({.where = f.config.string(), .what = "decoder_conf.r_num_blocks", .expected = "at least 1", .found = "0"});
  number("dataset_conf.fbank_conf.num_mel_bins", s.mels, 15, 1024);
  f.require("input_dim", std::to_string(s.mels));
  s.relative = relative_of(f, s.conformer);
  s.activation = activation_of(f, "encoder_conf.activation_type", s.conformer ? "swish" : "relu");
  s.dynamic_chunk =
      f.flag("encoder_conf.use_dynamic_chunk", false) || f.number("encoder_conf.static_chunk_size", 0, 0, 1u << 20) > 0;
  if (s.conformer) {
    number("encoder_conf.cnn_module_kernel", s.taps, 1, 1023);
    s.causal = f.flag("encoder_conf.causal", false);
    s.batch_norm = f.text("encoder_conf.cnn_module_norm", "batch_norm") == "batch_norm";
    if (!s.batch_norm) f.require("encoder_conf.cnn_module_norm", "layer_norm");
    if (!s.causal && s.taps % 2 == 0)
      fail({.where = f.config.string(),
            .what = "encoder_conf.cnn_module_kernel",
            .expected = "an odd number in a model that is not causal",
            .found = std::to_string(s.taps)});
  }
  for (const std::uint32_t heads : {s.heads, s.decoder_heads})
    if (s.width % heads != 0)
      fail({.where = f.config.string(),
            .what = "attention_heads",
            .expected = "a divisor of output_size " + std::to_string(s.width),
            .found = std::to_string(heads)});
  if (s.width % 2 != 0)
    fail({.where = f.config.string(), .what = "encoder_conf.output_size", .expected = "an even number"});
  s.vocabulary = static_cast<std::uint32_t>(vocabulary);
  number("output_dim", s.vocabulary, 1, 1u << 24);
  if (s.vocabulary != vocabulary)
    fail({.where = f.config.string(),
          .what = "output_dim",
          .expected = std::to_string(vocabulary) + " as " + f.units.filename().string(),
          .found = std::to_string(s.vocabulary)});
  const std::uint32_t last = s.vocabulary - 1;
  s.blank = f.number("ctc_conf.ctc_blank_id", 0, 0, last);
  s.sos = f.number("tokenizer_conf.special_tokens.<sos>", last, 0, last);
  s.eos = f.number("tokenizer_conf.special_tokens.<eos>", last, 0, last);
  const std::string weight = f.text("model_conf.reverse_weight", "0");
  if (!is_number(weight, s.reverse_weight) || !(s.reverse_weight >= 0 && s.reverse_weight <= 1))
    fail({.where = f.config.string(),
          .what = "model_conf.reverse_weight",
          .expected = "0 to 1",
          .found = steno::weights::quoted(weight)});
  if (!s.bidirectional) s.reverse_weight = 0;
  return s;
}

}  // namespace wenet_files
}  // namespace STENO_ABI
}  // namespace steno
