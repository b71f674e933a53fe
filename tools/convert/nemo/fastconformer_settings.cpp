// tools/convert/nemo/fastconformer_settings.cpp - what model_config.yaml says of a FastConformer; see
// fastconformer.hpp.
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include "limits.hpp"
#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

// Other values of these exist in NeMo and compute something else.
void require_known_parts(const checkpoint_settings& f) {
  f.require("encoder.subsampling", "dw_striding");
  f.require("encoder.subsampling_factor", "8");
  f.require("encoder.feat_out", "-1");
  f.require("encoder.reduction", "null");
  f.require("encoder.untie_biases", "true");
  f.require("encoder.stochastic_depth_mode", "linear");
  f.require("encoder.global_tokens", "0");
  f.require("encoder.global_attn_separate", "false");
}

// Where an unknown setting may change the text.
constexpr std::string_view sections[] = {
    "preprocessor", "encoder", "decoder.", "joint.", "tokenizer", "sortformer_modules", "transformer_encoder"};

constexpr std::string_view training = "training alone reads it", same = "computes the same in another way",
                           in_shapes = "the tensors' shapes say it";
constexpr unused_setting unused[] = {
    {"*._target_", "the model's target names the parts"},
    {"*.dropout", training},
    {"*_dropout", training},
    {"*.dropout_rate", training},
    {"encoder.dropout_*", training},
    {"preprocessor.dither", training},
    {"preprocessor.nb_augmentation_prob", training},
    {"preprocessor.nb_max_freq", training},
    {"preprocessor.rng", training},
    {"preprocessor.stft_conv", "has no effect in NeMo"},
    {"preprocessor.stft_exact_pad", "has no effect in NeMo"},
    {"encoder.att_context_probs", training},
    {"encoder.global_tokens_spacing", "there are no global tokens"},
    {"encoder.pos_emb_max_len", "positions are made as they are needed"},
    {"encoder.reduction_factor", "there is no reduction"},
    {"encoder.reduction_position", "there is no reduction"},
    {"encoder.stochastic_depth_*", training},
    {"encoder.subsampling_conv_chunking_factor", same},
    {"encoder.sync_max_audio_length", training},
    {"encoder.use_pytorch_sdpa*", same},
    {"decoder.feat_in", in_shapes},
    {"decoder.num_classes", in_shapes},
    {"decoder.vocab_size", in_shapes},
    {"decoder.init_mode", training},
    {"decoder.prednet.forget_gate_bias", training},
    {"decoder.prednet.hidden_hidden_bias_scale", training},
    {"decoder.prednet.rnn_hidden_size", in_shapes},
    {"decoder.prednet.t_max", training},
    {"decoder.prednet.weights_init_scale", training},
    {"decoder.random_state_sampling", training},
    {"*.vocabulary", "the tokenizer holds it"},
    {"joint.experimental_fuse_loss_wer", training},
    {"joint.fuse*", training},
    {"joint.jointnet.encoder_hidden", in_shapes},
    {"joint.jointnet.pred_hidden", in_shapes},
    {"joint.log_softmax", "the best label is the same"},
    {"joint.num_classes", in_shapes},
    {"joint.preserve_memory", same},
    {"tokenizer.dir", "the archive holds its files"},
    {"tokenizer.langs.*.dir", "the archive holds its files"},
    {"tokenizer.langs.*.spe_tokenizer_vocab", "the SentencePiece model holds it"},
    {"tokenizer.langs.*.vocab_path", "the SentencePiece model holds it"},
    {"tokenizer.spe_tokenizer_vocab", "the SentencePiece model holds it"},
    {"tokenizer.update_tokenizer", training},
    {"tokenizer.vocab_path", "the SentencePiece model holds it"},
    {"sortformer_modules.causal_attn_*", training},
    {"sortformer_modules.max_index", "a mark for frames that are not chosen"},
    {"sortformer_modules.scores_add_rnd", training},
    {"transformer_encoder.pre_ln_final_layer_norm", "norms stand behind the layers"},
    {"ats_weight", training},
    {"aux_ctc.*", "the transducer of a hybrid model is used"},
    {"compute_eval_loss", training},
    {"ctc_reduction", training},
    {"decoding.*", "NeMo's searches; steno's have options of their own"},
    {"interctc*", training},
    {"labels", "the tokenizer holds it"},
    {"log_prediction", training},
    {"loss.*", training},
    {"lr", training},
    {"max_num_of_spks", "stands in num_spks"},
    {"model_defaults.*", "stands where ${...} names it"},
    {"nemo_version", training},
    {"optim.*", training},
    {"pil_weight", training},
    {"rnnt_reduction", training},
    {"sample_rate", "preprocessor.sample_rate says it"},
    {"skip_nan_grad", training},
    {"spec_augment.*", training},
    {"streaming_mode", "of Sortformer alone"},
    {"test_ds*", training},
    {"train_ds*", training},
    {"validation_ds*", training},
    {"variational_noise*", training},
};

std::int32_t context(const std::vector<int>& sizes, std::size_t i) { return i < sizes.size() ? sizes[i] : -1; }

}  // namespace

void check_settings(const checkpoint_settings& f, std::vector<std::string>& notes) {
  f.check_all_read(sections, unused, notes);
}

void read_contexts(const checkpoint_settings& f, const std::string& at, fastconformer_settings& s) {
  s.causal_downsampling = f.flag(at + "causal_downsampling", false);
  const std::string norm = f.text(at + "conv_norm_type", "batch_norm");
  s.layer_norm = norm == "layer_norm";
  if (!s.layer_norm) f.require(at + "conv_norm_type", "batch_norm");
  const auto before = static_cast<int>(s.taps) - 1;
  const std::vector<int> lists = f.numbers(at + "conv_context_size", {}, 0, 1022);
  const std::string named = f.text(at + "conv_context_size", "null");
  const bool symmetric = lists.empty() ? named == "null" : lists == std::vector<int>{before / 2, before / 2};
  s.causal = lists.empty() ? named == "causal" : lists == std::vector<int>{before, 0};
  if (!symmetric && !s.causal)
    fail({.where = f.source, .what = at + "conv_context_size is not supported", .expected = "null or causal"});
  const std::vector<int> sizes = f.numbers(at + "att_context_size", {-1, -1}, -1, 1 << 20);
  s.left = context(sizes, 0);
  s.right = context(sizes, 1);
  const std::string style = f.text(at + "att_context_style", "regular");
  s.chunked = style == "chunked_limited";
  if (!s.chunked) f.require(at + "att_context_style", "regular");
  if (s.chunked && s.right < 0)
    fail({.where = f.source,
          .what = at + "att_context_size",
          .expected = "a limit on the right for chunked_limited",
          .found = std::to_string(s.right)});
}

void read_fastconformer(const checkpoint_settings& f, fastconformer_settings& s) {
  require_known_parts(f);
  read_frontend(f, s);
  f.require("encoder.feat_in", std::to_string(s.frontend.mel.mels));
  s.width = f.number("encoder.d_model", s.width, 2, limits::width);
  s.blocks = f.number("encoder.n_layers", s.blocks, 1, limits::layers);
  s.heads = f.number("encoder.n_heads", 4, 1, 1024);
  s.units = s.width * f.number("encoder.ff_expansion_factor", 4, 1, 64);
  s.channels = f.number("encoder.subsampling_conv_channels", s.width, 1, limits::width);
  s.taps = f.number("encoder.conv_kernel_size", 31, 1, 1023);
  s.bias = f.flag("encoder.use_bias", true);
  s.xscaling = f.flag("encoder.xscaling", true);
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0)
    fail({.where = f.source,
          .what = "encoder.d_model, n_heads and conv_kernel_size",
          .expected = "an even width that the heads divide, and an odd kernel",
          .found = std::to_string(s.width) + ", " + std::to_string(s.heads) + ", " + std::to_string(s.taps)});
  read_contexts(f, "encoder.", s);
  const std::string attention = f.text("encoder.self_attention_model", "rel_pos");
  if (attention != "rel_pos_local_attn") f.require("encoder.self_attention_model", "rel_pos");
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
