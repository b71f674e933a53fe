// tools/convert/nemo/fastconformer_settings.cpp - what model_config.yaml says of a FastConformer; see
// fastconformer.hpp.
// SPDX-License-Identifier: Apache-2.0
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
    "preprocessor",        "encoder",        "decoder.",       "joint.", "tokenizer", "sortformer_modules",
    "transformer_encoder", "transf_encoder", "transf_decoder", "head"};

constexpr std::string_view training = "training alone reads it", same = "computes the same in another way",
                           in_shapes = "the tensors' shapes say it";
// What NeMo's searches, optimisers and data sets are configured with.
constexpr std::string_view
    searches =
        "aggregation alignment_preserve_frame_confidence allow_cuda_graphs alpha alsd_max_target_len arpa_lm_path "
        "batch_dim_index beam beam_alpha beam_beta beam_prune_logp beam_size beam_size_token beam_threshold "
        "beam_width big_blank_durations blank_lm_score_mode boost_path boosting_tree boosting_tree_alpha bpe_alpha "
        "compute_hypothesis_token_set compute_langs compute_timestamps confidence_cfg confidence_measure_cfg "
        "confidence_method_cfg "
        "context_score ctc_timestamp_type decoding_mode depth_scaling device durations enable_per_stream_biasing "
        "entropy_norm entropy_type exclude_blank final_eos_score flashlight_cfg fold_consecutive greedy "
        "hat_ilm_weight hat_subtract_ilm hotword_weight hotwords ilm_weight include_duration "
        "include_duration_confidence k2_decoding_cfg kenlm_path key_phrases_file key_phrases_list language_model "
        "len_pen lexicon_path lm_weight loop_labels maes_expansion_beta maes_expansion_gamma maes_num_steps "
        "maes_prefix_alpha max_active_states max_generation_delta max_symbols max_symbols_per_step measure_cfg "
        "method_cfg min_active_states model_path model_type n_samples name ngram_lm_alpha ngram_lm_model "
        "num_of_transcriptions open_vocabulary_decoding output_beam preserve_alignments preserve_frame_confidence "
        "preserve_token_confidence preserve_word_confidence prune_history pruning_mode pyctcdecode_cfg "
        "return_best_hypothesis return_xattn_scores riva_decoding_cfg rnnt_timestamp_type score_norm "
        "score_per_phrase search_beam search_type segment_gap_threshold segment_separators segment_seperators "
        "sil_weight softmax_temperature source_lang strategy target_lang tdt_include_duration "
        "tdt_include_duration_confidence temperature token_list token_min_logp tsd_max_sym_exp uniform_weights "
        "unk_score unk_weight use_bpe_dropout use_cuda_graph_decoder use_triton wfst wfst_lm_path word_separator "
        "word_seperator",
    optimiser =
        "amsgrad betas capturable constant_steps d_model decay_rate eps fused hold_ratio hold_steps last_epoch lr "
        "max_steps min_lr monitor name power reduce_on_plateau sched total_steps warmup_ratio warmup_steps "
        "weight_decay",
    data_set =
        "audio_locator_field augmentor batch_duration batch_size bins bucket_batch_size bucket_buffer_size "
        "bucket_duration_bins bucketing_batch_size bucketing_strategy bucketing_weights channel_selector "
        "concat_sampling concat_sampling_probabilities concat_sampling_scale concat_sampling_seed "
        "concat_sampling_technique concat_sampling_temperature concat_shuffle corpus default_lang defer_setup "
        "drop_last ds_item dur_min emb_dir force_finite global_rank initialize_prompt_feature input_cfg is_concat "
        "is_tarred keep_excessive_supervisions labels lang lang_field manifest_filepath max_cuts max_duration "
        "max_samples max_token_per_second max_tps max_utts metadata_only min_duration min_tps name normalize "
        "normalize_transcripts num_buckets num_cuts_for_bins_estimate num_prompts num_spks num_workers parser "
        "pin_memory pnc pretokenize prompt_field prompt_format quadratic_duration quadratic_factor "
        "return_language_id return_sample_id sample_rate seed session_len_sec shar_path shard_manifests shard_seed "
        "shuffle shuffle_buffer_size shuffle_n skip_missing_manifest_entries soft_label_thres soft_targets "
        "source_lang subsample_rate tags target_lang tarred_audio_filepaths tarred_random_access "
        "tarred_shard_strategy task taskname text_field tokenizer_names trim_silence type unk_id use_bucketing "
        "use_cer use_lhotse use_start_end_token validate_durations weight window_stride";
constexpr unused_setting unused[] = {
    {"*._target_", "the model's target names the parts"},
    {"*.dropout", training},
    {"*_dropout", training},
    {"*.dropout_rate", training},
    {"encoder.dropout_att", training},
    {"encoder.dropout_emb", training},
    {"encoder.dropout_pre_encoder", training},
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
    {"encoder.stochastic_depth_drop_prob", training},
    {"encoder.stochastic_depth_mode", training},
    {"encoder.stochastic_depth_start_layer", training},
    {"encoder.subsampling_conv_chunking_factor", same},
    {"encoder.sync_max_audio_length", training},
    {"encoder.use_pytorch_sdpa", same},
    {"encoder.use_pytorch_sdpa_backends", same},
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
    {"joint.fuse_loss_wer", training},
    {"joint.fused_batch_size", training},
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
    {"sortformer_modules.causal_attn_rate", training},
    {"sortformer_modules.causal_attn_rc", training},
    {"sortformer_modules.max_index", "a mark for frames that are not chosen"},
    {"sortformer_modules.scores_add_rnd", training},
    {"transformer_encoder.pre_ln_final_layer_norm", "norms stand behind the layers"},
    {"transf_encoder", "it has no layers",
     "_target_ attn_layer_dropout attn_score_dropout ffn_dropout hidden_act hidden_size inner_size mask_future "
     "num_attention_heads pre_ln pre_ln_final_layer_norm"},
    {"transf_decoder.config_dict.attn_layer_dropout", training},
    {"transf_decoder.config_dict.inner_size", in_shapes},
    {"transf_decoder.config_dict.vocab_size", "the tokenizer says it"},
    {"head.activation", "stands between layers, and there is one"},
    {"head.hidden_size", in_shapes},
    {"head.num_classes", "the tokenizer says it"},
    {"head.use_transformer_init", training},
    {"tokenizer.custom_tokenizer.tokenizers", "tokenizer.langs names them"},
    {"ats_weight", training},
    {"label_smoothing", training},
    {"multitask_metrics_cfg", training,
     "_target_ bleu bleu_tokenizer check_cuts_for_bleu_tokenizers constraint log_predictions metrics wer"},
    {"prompt_defaults", "recordings are transcribed with the format's own",
     "decodercontext diarize emotion itn pnc role slots source_lang target_lang task timestamp"},
    {"use_loss_mask_for_prompt", training},
    {"aux_ctc", "the transducer of a hybrid model is used",
     "_target_ ctc_loss_weight ctc_reduction decoder feat_in num_classes use_cer vocabulary"},
    {"aux_ctc.decoding", "the transducer of a hybrid model is used", searches},
    {"bleu_tokenizer", training},
    {"compute_eval_loss", training},
    {"ctc_reduction", training},
    {"decoding", "NeMo's searches; steno's have options of their own", searches},
    {"interctc", training, "apply_at_layers loss_weights"},
    {"labels", "the tokenizer holds it"},
    {"log_prediction", training},
    {"loss", training,
     "_target_ big_blank_durations clamp durations fastemit_lambda label_smoothing loss_name mwer_factor num_classes "
     "offline_loss_weight omega pad_id reduction sigma streaming_loss_weight tdt_kwargs warprnnt_numba_kwargs weight"},
    {"lr", training},
    {"max_num_of_spks", "stands in num_spks"},
    {"model_defaults", "stands where ${...} names it",
     "asr_enc_hidden enc_hidden fc_d_model joint_hidden lm_dec_hidden lm_enc_hidden norm num_tdt_durations pred_hidden "
     "tdt_durations tf_d_model"},
    {"nemo_version", training},
    {"num_prompts", "model_defaults says it"},
    {"optim", training, optimiser},
    {"pil_weight", training},
    {"rnnt_reduction", training},
    {"sample_rate", "preprocessor.sample_rate says it"},
    {"skip_nan_grad", training},
    {"spec_augment", training,
     "_target_ freq_masks freq_width mask_value rng time_masks time_width use_numba_spec_augment use_vectorized_code"},
    {"streaming_mode", "of Sortformer alone"},
    {"test_ds", training, data_set},
    {"train_ds", training, data_set},
    {"validation_ds", training, data_set},
    {"variational_noise", training, "start_step std"},
};

}  // namespace

nemo::nemo_stream_windows usual_stream_windows() {
  return {.left = {70}, .chunk = {1, 2, 7, 13}, .right = {0, 1, 2, 3, 4, 7, 13}};
}

void take_contexts(const std::vector<std::vector<int>>& pairs, const std::string& where, const std::string& what,
                   fastconformer_settings& s) {
  constexpr std::size_t most = 64;
  const auto refuse = [&](const std::string& expected, const std::string& found) {
    fail({.where = where, .what = what, .expected = expected, .found = found});
  };
  if (pairs.size() > most) refuse("up to " + std::to_string(most) + " pairs", std::to_string(pairs.size()));
  if (s.chunked && pairs.empty()) refuse("a limit on the right for chunked_limited", "none");
  s.contexts.clear();
  for (const std::vector<int>& pair : pairs) {
    if (pair.size() > 2) refuse("pairs of left and right", std::to_string(pair.size()) + " numbers");
    const std::int32_t left = pair.empty() ? -1 : pair[0], right = pair.size() < 2 ? -1 : pair[1];
    if (s.chunked && right < 0 && pairs.size() < 2) refuse("a limit on the right for chunked_limited", "-1");
    if (s.chunked && right >= 0 && left > 0 && left % (right + 1) != 0)
      refuse("whole chunks on the left: a multiple of right + 1 for chunked_limited",
             std::to_string(left) + ", " + std::to_string(right));
    s.contexts.push_back(left);
    s.contexts.push_back(right);
  }
  s.left = s.contexts.empty() ? -1 : s.contexts[0];
  s.right = s.contexts.empty() ? -1 : s.contexts[1];
  if (s.contexts.size() <= 2) s.contexts.clear();
}

void check_stream_windows(const nemo::nemo_stream_windows& w, const std::string& where, const std::string& what) {
  constexpr std::size_t most = 64;
  const auto check = [&](const char* kind, const std::vector<int>& sizes, int least) {
    for (const int n : sizes)
      if (n < least || n > static_cast<int>(nemo::nemo_max_window))
        fail({.where = where,
              .what = what + ": " + kind,
              .expected = std::to_string(least) + " to " + std::to_string(nemo::nemo_max_window),
              .found = std::to_string(n)});
    if (sizes.empty() || sizes.size() > most)
      fail({.where = where,
            .what = what + ": " + kind,
            .expected = "1 to " + std::to_string(most) + " numbers of rows",
            .found = std::to_string(sizes.size())});
  };
  check("left", w.left, 0);
  check("chunk", w.chunk, 1);
  check("right", w.right, 0);
}

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
  std::vector<std::vector<int>> pairs = f.number_lists(at + "att_context_size", -1, 1 << 20);
  const std::string style = f.text(at + "att_context_style", "regular");
  s.chunked = style == "chunked_limited";
  if (style == "chunked_limited_with_rc") {
    pairs.clear();  // the original overwrites them: whole clips are seen as a whole
    std::vector<std::vector<int>> menu = f.number_lists(at + "att_chunk_context_size", 0, 1 << 20);
    s.windows = usual_stream_windows();
    if (!menu.empty()) {
      menu.resize(3);
      s.windows = {.left = menu[0], .chunk = menu[1], .right = menu[2]};
    }
    check_stream_windows(s.windows, f.source, at + "att_chunk_context_size");
    // Read and kept by the original, and without effect once it is trained.
    if (f.text(at + "conv_context_style", "dcc") != "regular") f.require(at + "conv_context_style", "dcc");
  } else if (!s.chunked) {
    f.require(at + "att_context_style", "regular");
  }
  take_contexts(pairs, f.source, at + "att_context_size", s);
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
