// config.yaml, configuration.json and GGUF keys of FunASR's models: no key is overlooked in silence. A file that
// differs in one key alone is the original's, or refused with that key's name.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/settings.hpp"

#include <random>

#include "convert/fixtures.hpp"
#include "funasr/ct_punc.hpp"
#include "funasr/folder.hpp"
#include "funasr/fsmn_vad.hpp"
#include "funasr/nano.hpp"
#include "funasr/paraformer.hpp"
#include "funasr/sense_voice.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace funasr_settings_test {

namespace fs = std::filesystem;
using namespace steno;
using test::read_text;
using test::write_text;

const std::string paraformer =
    "model: Paraformer\n"
    "model_conf:\n  predictor_bias: 1\n"
    "encoder: SANMEncoder\n"
    "encoder_conf:\n  output_size: 32\n  attention_heads: 4\n  num_blocks: 2\n  input_layer: pe\n"
    "decoder: ParaformerSANMDecoder\n"
    "decoder_conf:\n  num_blocks: 2\n  att_layer_num: 2\n  kernel_size: 11\n  sanm_shfit: 0\n"
    "predictor: CifPredictorV2\n"
    "predictor_conf:\n  idim: 32\n  threshold: 1.0\n  l_order: 1\n  r_order: 1\n  tail_threshold: 0.45\n"
    "frontend: WavFrontend\n"
    "frontend_conf:\n  fs: 16000\n  lfr_m: 7\n  lfr_n: 6\n"
    "tokenizer: CharTokenizer\n"
    "tokenizer_conf:\n  unk_symbol: <unk>\n"
    "normalize: null\n";

// `text` with the second of each pair in place of the first.
std::string changed(std::string text, std::initializer_list<std::pair<std::string, std::string>> changes) {
  for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
  return text;
}
const std::string second_predictor =
    "tail_threshold: 0.45\n  smooth_factor2: 0.25\n  noise_threshold2: 0.01\n  upsample_times: 3\n"
    "  upsample_type: cnn_blstm\n  use_cif1_cnn: false\n";
const std::string bicif = changed(paraformer, {{"model: Paraformer", "model: BiCifParaformer"},
                                               {"CifPredictorV2", "CifPredictorV3"},
                                               {"tail_threshold: 0.45\n", second_predictor}});
const std::string seaco =
    changed(bicif, {{"BiCifParaformer", "SeacoParaformer"},
                    {"predictor_bias: 1\n",
                     "predictor_bias: 1\n  inner_dim: 32\n  bias_encoder_type: lstm\n"
                     "  bias_encoder_bid: false\n  seaco_lsm_weight: 0.1\n"
                     "  seaco_length_normal: true\n  train_decoder: true\n  NO_BIAS: 40\n"}}) +
    "seaco_decoder: ParaformerSANMDecoder\n"
    "seaco_decoder_conf:\n  attention_heads: 4\n  num_blocks: 4\n  kernel_size: 21\n  sanm_shfit: 0\n"
    "  use_output_layer: false\n  wo_input_layer: true\n";
const std::string contextual = changed(paraformer, {{"model: Paraformer", "model: ContextualParaformer"},
                                                    {"ParaformerSANMDecoder", "ContextualParaformerDecoder"},
                                                    {"predictor_bias: 1\n", "predictor_bias: 1\n  inner_dim: 32\n"}});

const std::string sense_voice =
    "model: SenseVoiceSmall\n"
    "model_conf:\n  sos: 1\n"
    "encoder: SenseVoiceEncoderSmall\n"
    "encoder_conf:\n  output_size: 32\n  attention_heads: 4\n  num_blocks: 2\n  tp_blocks: 1\n"
    "frontend: WavFrontend\n"
    "frontend_conf:\n  fs: 16000\n  lfr_m: 7\n  lfr_n: 6\n"
    "tokenizer: SentencepiecesTokenizer\n"
    "tokenizer_conf:\n  bpemodel: null\n";

const std::string fsmn_vad =
    "model: FsmnVADStreaming\n"
    "model_conf:\n  sample_rate: 16000\n  snr_mode: 0\n"
    "encoder: FSMN\n"
    "encoder_conf:\n  input_dim: 400\n  fsmn_layers: 2\n  lorder: 8\n  rorder: 0\n"
    "frontend: WavFrontendOnline\n"
    "frontend_conf:\n  fs: 16000\n  lfr_m: 5\n  lfr_n: 1\n";

const std::string nano =
    "model: FunASRNano\n"
    "model_conf:\n  lsm_weight: 0.1\n"
    "audio_encoder: SenseVoiceEncoderSmall\n"
    "audio_encoder_conf:\n  output_size: 32\n  attention_heads: 4\n  num_blocks: 2\n  feat_permute: true\n"
    "llm: Qwen3-0.6b\n"
    "llm_conf:\n  hub: hf\n  llm_dtype: bf16\n  init_param_path: Qwen3-0.6B\n  use_lora: false\n"
    "audio_adaptor: Transformer\n"
    "audio_adaptor_conf:\n  downsample_rate: 1\n  use_low_frame_rate: true\n  n_layer: 2\n"
    "ctc_decoder: Transformer\n"
    "detach_ctc_decoder: true\n"
    "ctc_decoder_conf:\n  downsample_rate: 1\n  llm_dim: 32\n"
    "ctc_weight: 1.0\n"
    "ctc_vocab_size: 288\n"
    "ctc_conf:\n  ctc_type: builtin\n"
    "frontend: WavFrontend\n"
    "frontend_conf:\n  fs: 16000\n  lfr_m: 7\n  lfr_n: 6\n"
    "dataset_conf:\n  do_think: true\n"
    "tokenizer: HuggingfaceTokenizer\n"
    "tokenizer_conf:\n  init_param_path: Qwen3-0.6B\n";

const std::string ct_punc =
    "model: CTTransformer\n"
    "model_conf:\n  embed_unit: 32\n  att_unit: 32\n  punc_list: [<unk>, _, a]\n  punc_weight: [1.0, 1.0, 1.0]\n"
    "encoder: SANMEncoder\n"
    "encoder_conf:\n  input_size: 32\n  output_size: 32\n  attention_heads: 4\n  num_blocks: 2\n  input_layer: pe\n"
    "  sanm_shfit: 0\n  padding_idx: 0\n"
    "tokenizer: CharTokenizer\n"
    "tokenizer_conf:\n  unk_symbol: <unk>\n";

const std::string configuration =
    R"({"framework": "pytorch", "task": "auto-speech-recognition", "model": {"type": "funasr"},
        "pipeline": {"type": "funasr-pipeline"}, "model_name_in_hub": {"ms": "", "hf": ""},
        "file_path_metas": {"init_param": "model.pt", "config": "config.yaml",
                            "tokenizer_conf": {"seg_dict_file": "seg_dict"}}})";

// The notes on a folder with this config.yaml and configuration.json.
std::vector<std::string> notes_of(const std::string& config, const std::string& json = "") {
  const test::temporary_directory directory;
  const fs::path root = directory.path();
  write_text(root / "config.yaml", config);
  write_text(root / "model.pt", "");
  fs::create_directory(root / "Qwen3-0.6B");
  if (!json.empty()) write_text(root / "configuration.json", json);
  const funasr_files::folder f = funasr_files::open_folder(root);
  std::vector<std::string> notes;
  const std::string model = f.text("model", "");
  if (model == "SenseVoiceSmall") funasr_files::read_sense_voice_settings(f, notes);
  if (model.find("Paraformer") != std::string::npos) funasr_files::read_paraformer_settings(f, notes);
  if (model == "FsmnVADStreaming") funasr_files::read_fsmn_vad_settings(f, notes);
  if (model.starts_with("CTTransformer")) funasr_files::read_ct_punc_settings(f, notes);
  if (model == "FunASRNano") funasr_files::read_nano_settings(f, notes);
  return notes;
}

// The refusal of `config` with `line` ("encoder_conf.num_blocks: 3") in place of, or beside, what it has there.
std::string refusal_with(std::string config, const std::string& line) {
  const std::size_t dot = line.find('.'), colon = line.find(':');
  if (dot == std::string::npos || dot > colon) {
    const std::size_t at = ("\n" + config).find("\n" + line.substr(0, colon + 1));
    if (at != std::string::npos) config.erase(at, config.find('\n', at) + 1 - at);
    config += line + "\n";
  } else {
    const std::string section = line.substr(0, dot) + ":\n", key = "  " + line.substr(dot + 1, colon - dot);
    if (config.find(section) == std::string::npos) config += section;
    const std::size_t from = config.find(section) + section.size(), at = config.find(key, from);
    if (at != std::string::npos && config.find("\n  ", at - 3) == at - 1)
      config.erase(at, config.find('\n', at) + 1 - at);
    config.insert(from, "  " + line.substr(dot + 1) + "\n");
  }
  return test::refusal([&] { notes_of(config); });
}

TEST(funasr_settings, published_configs_hold_no_unknown_key) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"sensevoice-small", "paraformer-large-zh", "paraformer-large-zh-online", "fsmn-vad",
                           "fun-asr-nano-2512-hf", "fun-asr-nano-2512-ms", "fun-asr-mlt-nano-2512",
                           "bicif-paraformer-large-zh", "seaco-paraformer-large-zh", "contextual-paraformer-large-zh",
                           "ct-transformer-punc-272727", "ct-punc-471067-large", "ct-punc-realtime-272727"}) {
    std::vector<std::string> notes{"refused"};
    const std::string text = read_text(shared / "manifests" / (std::string(name) + ".yaml"));
    EXPECT_EQ(test::refusal([&] { notes = notes_of(text, configuration); }), "") << name;
    EXPECT_EQ(notes, std::vector<std::string>()) << name;
  }
}

// Keys of training, of the program and of finetuned folders, as FunASR's templates and train_ds.py write them.
TEST(funasr_settings, what_training_writes_is_known) {
  const std::string training =
      "specaug: SpecAugLFR\nspecaug_conf:\n  freq_mask_width_range: [0, 30]\n  num_time_mask: 1\n"
      "train_conf:\n  accum_grad: 1\n  best_model_criterion: [[valid, acc, max]]\noptim: adam\noptim_conf:\n  lr: 1\n"
      "scheduler: warmuplr\nscheduler_conf:\n  warmup_steps: 30000\ndataset: AudioDataset\n"
      "dataset_conf:\n  index_ds: IndexDSJsonl\n  shuffle: true\ntrain_data_set_list: a.jsonl\n"
      "valid_data_set_list: b.jsonl\noutput_dir: ./outputs\nmodel_path: /x\ninit_param: /x/model.pt\n"
      "config: /x/config.yaml\nis_training: true\n";
  for (const std::string& config : {paraformer, bicif, seaco, contextual, sense_voice, fsmn_vad})
    EXPECT_EQ(notes_of(config + training), std::vector<std::string>());
}

TEST(funasr_settings, an_unknown_key_is_never_silent) {
  std::mt19937 random(1);
  for (const std::string& config : {paraformer, seaco, contextual, sense_voice, fsmn_vad}) {
    ASSERT_EQ(notes_of(config, configuration), std::vector<std::string>());
    for (const std::string section : {"model_conf", "encoder_conf", "decoder_conf", "predictor_conf", "frontend_conf",
                                      "tokenizer_conf", "ctc_conf", "normalize_conf", "new_section", ""}) {
      std::string key = "k";
      for (int i = 0; i < 8; ++i) key += static_cast<char>('a' + random() % 26);
      const std::string value[] = {"1", "null", "[1]", "{}", "{a: {b: {c: {d: 1}}}}"};
      std::string text = config;
      const std::string line = key + ": " + value[random() % std::size(value)] + "\n";
      const std::size_t at = section.empty() ? std::string::npos : text.find(section + ":\n");
      if (section.empty())
        text += line;
      else if (at == std::string::npos)
        text += section + ":\n  " + line;
      else
        text.insert(at + section.size() + 2, "  " + line);
      const bool matters = !section.empty() && section != "new_section";
      std::vector<std::string> notes;
      const std::string refusal = test::refusal([&] { notes = notes_of(text, configuration); });
      EXPECT_EQ(refusal.find(key) != std::string::npos, matters) << section << " " << line << ": " << refusal;
      EXPECT_EQ(notes.size() == 1 && notes[0].find(key) != std::string::npos, !matters) << section << " " << line;
    }
  }
}

TEST(funasr_settings, an_unknown_key_of_configuration_json_is_never_silent) {
  const auto with = [](const std::string& before, const std::string& entry) {
    std::string json = configuration;
    json.insert(json.find(before) + before.size(), entry + ", ");
    return json;
  };
  EXPECT_NE(test::refusal([&] {
              notes_of(paraformer, with("\"file_path_metas\": {", "\"lm_file\": \"lm.pt\""));
            }).find("configuration.json: \"file_path_metas.lm_file\" is a setting that steno does not know"),
            std::string::npos);
  EXPECT_NE(
      test::refusal([&] { notes_of(paraformer, with("\"tokenizer_conf\": {", "\"a\": {}")); }).find("tokenizer_conf.a"),
      std::string::npos);
  const std::vector<std::string> notes = notes_of(paraformer, with("{", "\"license\": \"x\""));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("configuration.json: not read, and not known: \"license\""), std::string::npos) << notes[0];
}

// dataset_conf of Fun-ASR-Nano says what the prompt is, and which tokens the CTC head has.
TEST(funasr_settings, no_key_of_fun_asr_nano_is_silent) {
  ASSERT_EQ(notes_of(nano, configuration), std::vector<std::string>());
  std::string above = nano + "ctc_tokenizer: SenseVoiceTokenizer\nctc_tokenizer_conf: {num_languages: 8749}\n";
  above.insert(above.find("dataset_conf:\n") + 14,
               "  ctc_tokenizer: ${ctc_tokenizer}\n  ctc_tokenizer_conf: ${ctc_tokenizer_conf}\n  num_workers: 4\n");
  EXPECT_EQ(notes_of(above, configuration), std::vector<std::string>());
  for (const char* section : {"audio_encoder_conf", "audio_adaptor_conf", "ctc_decoder_conf", "ctc_conf", "llm_conf",
                              "frontend_conf", "tokenizer_conf", "model_conf"})
    EXPECT_NE(refusal_with(nano, std::string(section) + ".kabcdef: 1").find("kabcdef"), std::string::npos) << section;
  for (const char* line : {"dataset_conf.kabcdef: 1", "kabcdef: 1"}) {
    std::string text = nano;
    const std::size_t at = text.find("dataset_conf:\n") + 14;
    if (std::string_view(line).starts_with("dataset_conf."))
      text.insert(at, "  kabcdef: 1\n");
    else
      text += "kabcdef: 1\n";
    const std::vector<std::string> notes = notes_of(text);
    ASSERT_EQ(notes.size(), 1u) << line;
    EXPECT_NE(notes[0].find("kabcdef"), std::string::npos) << notes[0];
  }
  for (const char* line : {"audio_encoder: WhisperEncoder",
                           "audio_encoder_conf.input_layer: conv2d",
                           "audio_encoder_conf.sanm_shfit: 5",
                           "audio_encoder_conf.hub: ms",
                           "audio_adaptor: Linear",
                           "audio_adaptor_conf.use_low_frame_rate: maybe",
                           "ctc_decoder: Linear",
                           "ctc_conf.blank_id: 288",
                           "ctc_conf.extra_linear: false",
                           "llm_conf.use_lora: true",
                           "llm_conf.load_kwargs: {a: 1}",
                           "llm_kwargs: {num_beams: 4}",
                           "dataset_conf.sys_prompt: false",
                           "dataset_conf.do_think: maybe",
                           "dataset_conf.ctc_tokenizer: HuggingfaceTokenizer",
                           "tokenizer: CharTokenizer",
                           "dataset_conf.ctc_tokenizer_conf: {is_multilingual: false}",
                           "frontend: WavFrontendOnline",
                           "normalize: GlobalMVN",
                           "dataset_conf.ctc_tokenizer_conf: {vocabulary: a}",
                           "itn: false",
                           "language: en",
                           "max_length: 100",
                           "ctc_tokenizer: CharTokenizer",
                           "llm_conf.init_param_path: Other"}) {
    const std::string whole = std::string(line).substr(0, std::string(line).find(':'));
    const std::string refusal = refusal_with(nano, line);
    EXPECT_NE(refusal.find(whole), std::string::npos) << line << " -> " << refusal;
  }
}

TEST(funasr_settings, no_key_of_a_punctuation_model_is_silent) {
  ASSERT_EQ(notes_of(ct_punc, configuration), std::vector<std::string>());
  for (const char* section : {"model_conf", "encoder_conf", "tokenizer_conf"})
    EXPECT_NE(refusal_with(ct_punc, std::string(section) + ".kabcdef: 1").find("kabcdef"), std::string::npos)
        << section;
  for (const char* line :
       {"model_conf.punc_list: _", "model_conf.punc_list: [_]", "model_conf.sentence_end_id: 3",
        "model_conf.embed_unit: 16", "model_conf.att_unit: 16", "encoder: SANMVadEncoder",
        "encoder_conf.input_size: 16", "encoder_conf.sanm_shfit: 5", "encoder_conf.input_layer: embed",
        "encoder_conf.attention_heads: 5", "tokenizer: SentencepiecesTokenizer", "split_size: 30", "punc_threshold: 1",
        "normalize: GlobalMVN"}) {
    const std::string whole = std::string(line).substr(0, std::string(line).find(':'));
    const std::string refusal = refusal_with(ct_punc, line);
    EXPECT_NE(refusal.find(whole), std::string::npos) << line << " -> " << refusal;
  }
}

// One file for each key that changes the result; what the original computes otherwise is refused by that key's name.
TEST(funasr_settings, what_computes_something_else_is_named) {
  const std::vector<std::string> of_a_front_end = {
      "frontend: WavFrontendKaldi", "frontend_conf.snip_edges: false", "frontend_conf.upsacle_samples: false",
      "frontend_conf.fs: 0",        "frontend_conf.n_mels: [80]",      "frontend_conf.cmvn_file: [am.mvn]"};
  const std::vector<std::string> of_an_encoder = {
      "encoder: ConformerEncoder",
      "encoder_conf.input_layer: conv2d",
      "encoder_conf.normalize_before: false",
      "encoder_conf.concat_after: true",
      "encoder_conf.positionwise_layer_type: conv1d",
      "encoder_conf.positionwise_conv_kernel_size: 3",
      "encoder_conf.interctc_use_conditioning: true",
      "encoder_conf.lora_list: [q, v]",
      "encoder_conf.sanm_shfit: 5",
      "encoder_conf.selfattention_layer_type: selfattn",
  };
  const auto expect_all = [](const std::string& config, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const std::string key = line.substr(0, line.find(':')), refusal = refusal_with(config, line);
      EXPECT_NE(refusal.find(key), std::string::npos) << line << " -> " << refusal;
    }
  };
  for (const std::string& config : {paraformer, sense_voice, fsmn_vad}) expect_all(config, of_a_front_end);
  for (const std::string& config : {paraformer, sense_voice}) expect_all(config, of_an_encoder);
  expect_all(paraformer, {"model_conf.sos: 3",
                          "model_conf.eos: null",
                          "model_conf.blank_id: 1",
                          "model_conf.ctc_weight: 1",
                          "decoder: Other",
                          "decoder_conf.att_layer_num: 1",
                          "decoder_conf.sanm_shfit: 5",
                          "decoder_conf.sanm_shfit: null",
                          "decoder_conf.normalize_before: false",
                          "decoder_conf.concat_after: true",
                          "decoder_conf.use_output_layer: false",
                          "decoder_conf.lora_list: [q]",
                          "predictor: CifPredictor",
                          "predictor_conf.threshold: 0.9",
                          "predictor_conf.l_order: 0",
                          "predictor_conf.r_order: 2",
                          "predictor_conf.smooth_factor: 0.5",
                          "predictor_conf.noise_threshold: 0.1",
                          "predictor_conf.tail_threshold: 0",
                          "predictor_conf.tail_threshold: 1.5",
                          "tokenizer: SentencepiecesTokenizer",
                          "normalize: GlobalMVN",
                          "decoding_ctc_weight: 0.3",
                          "lm_weight: 0.1",
                          "beam_size: 5",
                          "tokenizer_conf.token_list: [a, b]"});
  expect_all(sense_voice, {"model_conf.blank_id: x", "tokenizer: CharTokenizer", "normalize: GlobalMVN",
                           "ctc_conf.extra_linear: false", "ban_emo_unk: true"});
  expect_all(fsmn_vad, {"model_conf.sample_rate: 8000", "model_conf.snr_mode: 1", "model_conf.silence_pdf_num: 2",
                        "model_conf.sil_pdf_ids: [1]", "model_conf.sil_pdf_ids: [0, 1]", "model_conf.fe_prior_thres: 2",
                        "model_conf.frame_in_ms: 20", "model_conf.frame_length_ms: 20", "encoder: DFSMN",
                        "encoder_conf.input_dim: 80", "encoder_conf.rorder: 1", "encoder_conf.lstride: 2",
                        "encoder_conf.use_softmax: false", "silence_schedule: [[1, 2]]", "max_end_silence_time: 100"});
}

// BiCif, SeACo and contextual Paraformers; a setting whose default computes something else must be there.
TEST(funasr_settings, what_the_other_paraformers_compute_otherwise) {
  const auto expect = [](const std::string& config, std::initializer_list<const char*> lines) {
    ASSERT_EQ(notes_of(config), std::vector<std::string>());
    for (const std::string line : lines) {
      const std::string key = line.substr(0, line.find(':')), refusal = refusal_with(config, line);
      EXPECT_NE(refusal.find(key), std::string::npos) << line << " -> " << refusal;
    }
  };
  const auto second = {
      "predictor: CifPredictorV2",         "predictor_conf.upsample_times: 5",   "predictor_conf.upsample_times: null",
      "predictor_conf.upsample_type: cnn", "predictor_conf.upsample_type: null", "predictor_conf.use_cif1_cnn: true",
      "predictor_conf.use_cif1_cnn: null", "predictor_conf.smooth_factor2: 17",  "predictor_conf.noise_threshold2: x"};
  expect(bicif, second);
  expect(seaco, second);
  expect(bicif, {"seaco_decoder: ParaformerSANMDecoder", "model_conf.inner_dim: 32"});
  expect(seaco, {"model_conf.inner_dim: 64", "model_conf.inner_dim: null", "model_conf.bias_encoder_type: mean",
                 "model_conf.bias_encoder_bid: true", "model_conf.NO_BIAS: -1", "seaco_decoder: Other",
                 "seaco_decoder_conf.attention_heads: 5", "seaco_decoder_conf.num_blocks: 7",
                 "seaco_decoder_conf.use_output_layer: true", "seaco_decoder_conf.use_output_layer: null",
                 "seaco_decoder_conf.sanm_shfit: 5", "seaco_decoder_conf.normalize_before: false",
                 "seaco_decoder_conf.concat_after: true", "tokenizer_conf.unk_symbol: <oov>",
                 "decoder_conf.wo_input_layer: true", "hotword: a", "clas_scale: 0.5"});
  expect(contextual, {"decoder: ParaformerSANMDecoder", "decoder_conf.att_layer_num: 1", "decoder_conf.sanm_shift: 5",
                      "model_conf.inner_dim: 64", "model_conf.bias_encoder_type: mean",
                      "model_conf.use_decoder_embedding: true", "clas_scale: -1", "hotword: a"});
  EXPECT_EQ(refusal_with(contextual, "clas_scale: 0.5"), "");
  EXPECT_EQ(refusal_with(seaco, "seaco_decoder_conf.att_layer_num: 8"), "");
}

// A stream's decoder looks back by half its taps, which null stands for; without the key FunASR would look both ways.
TEST(funasr_settings, the_shift_of_a_stream) {
  std::string online = paraformer;
  for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
           {"model: Paraformer", "model: ParaformerStreaming"},
           {"encoder: SANMEncoder", "encoder: SANMEncoderChunkOpt"},
           {"input_layer: pe", "input_layer: pe_online"},
           {"frontend: WavFrontend", "frontend: WavFrontendOnline"},
           {"sanm_shfit: 0", "sanm_shfit: 5"}})
    online.replace(online.find(from), from.size(), to);
  EXPECT_EQ(notes_of(online), std::vector<std::string>());
  EXPECT_EQ(refusal_with(online, "decoder_conf.sanm_shfit: null"), "");
  EXPECT_NE(refusal_with(online, "decoder_conf.sanm_shfit: 0").find("expected 5, found 0"), std::string::npos);
  online.replace(online.find("  sanm_shfit: 5\n"), 16, "");
  EXPECT_NE(test::refusal([&] { notes_of(online); }).find("decoder_conf.sanm_shfit"), std::string::npos);
}

TEST(funasr_settings, tokens_of_a_text_file) {
  const test::temporary_directory directory;
  const fs::path root = directory.path();
  write_text(root / "config.yaml", paraformer);
  write_text(root / "model.pt", "");
  write_text(root / "tokens.txt", "<blank>\n<s> \r\n</s>\n\n\xe5\xa5\xbd");
  EXPECT_EQ(funasr_files::open_folder(root).read_tokens(),
            (std::vector<std::string>{"<blank>", "<s>", "</s>", "", "\xe5\xa5\xbd"}));
  write_text(root / "tokens.json", "[\"a\"]");
  EXPECT_EQ(funasr_files::open_folder(root).read_tokens(), std::vector<std::string>{"a"});
}

}  // namespace funasr_settings_test
