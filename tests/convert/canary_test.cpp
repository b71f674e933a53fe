// Canary's archives: what a config says, what is refused, and what becomes of the recorded ones.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/models/canary.hpp>

#include <gtest/gtest.h>

#include "convert.hpp"
#include "convert/nemo_notes.hpp"
#include "nemo/canary.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "yaml_settings.hpp"

namespace canary_test {

using namespace steno;

std::string config() {
  return "target: nemo.collections.asr.models.aed_multitask_models.EncDecMultiTaskModel\n"
         "prompt_format: canary2\n"
         "model_defaults:\n  asr_enc_hidden: 16\n  lm_dec_hidden: 8\n"
         "preprocessor:\n  features: 80\n"
         "encoder:\n  feat_in: 80\n  d_model: 16\n  n_heads: 2\n  n_layers: 1\n  subsampling: dw_striding\n"
         "  subsampling_conv_channels: 4\n  conv_kernel_size: 9\n"
         "transf_encoder:\n  num_layers: 0\n"
         "transf_decoder:\n  model_name: null\n  pre_ln_final_layer_norm: true\n  config_dict:\n"
         "    max_sequence_length: 64\n    num_token_types: 0\n    learn_positional_encodings: false\n"
         "    hidden_size: 8\n    num_layers: 3\n    num_attention_heads: 2\n    hidden_act: relu\n    pre_ln: true\n"
         "head:\n  num_layers: 1\n  log_softmax: true\n"
         "tokenizer:\n  type: bpe\n  custom_tokenizer:\n"
         "    _target_: nemo.collections.common.tokenizers.canary_tokenizer.CanaryBPETokenizer\n"
         "decoding:\n  strategy: beam\n  beam:\n    beam_size: 1\n    len_pen: 0.5\n    max_generation_delta: 50\n";
}
nemo_files::canary_settings settings(const std::string& text) {
  return nemo_files::read_canary_settings(read_yaml("model_config.yaml", text, "a NeMo config"));
}
// The config with one text in place of another.
std::string with(const std::string& from, const std::string& to) {
  std::string text = config();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string refusal(const std::string& from, const std::string& to) {
  const std::string text = with(from, to);
  return test::refusal([&] { (void)settings(text); });
}

TEST(canary_config, what_it_says) {
  const nemo_files::canary_settings s = settings(config());
  EXPECT_EQ(s.hidden, 8u);
  EXPECT_EQ(s.layers, 3u);
  EXPECT_EQ(s.attention_heads, 2u);
  EXPECT_EQ(s.context, 64u);
  EXPECT_EQ(s.beam, 1u);
  EXPECT_EQ(s.length_penalty, 0);  // len_pen is not what the original's decoder asks for
  EXPECT_EQ(s.max_generation_delta, 50);
  EXPECT_FALSE(s.aggregate);
  EXPECT_EQ(settings(with("len_pen", "length_penalty")).length_penalty, 0.5);
  EXPECT_EQ(settings(with("beam_size: 1", "beam_size: 4")).beam, 4u);
  EXPECT_EQ(settings(with("    max_generation_delta: 50\n", "")).max_generation_delta, -1);
  EXPECT_EQ(settings(with("delta: 50", "delta: -7")).max_generation_delta, -1);
  const auto greedy =
      settings(with("strategy: beam\n  beam:\n    beam_size: 1", "strategy: greedy\n  greedy:\n    x: 1"));
  EXPECT_EQ(greedy.beam, 1u);
  EXPECT_EQ(greedy.max_generation_delta, 50);
}

TEST(canary_config, what_computes_something_else_is_refused) {
  EXPECT_EQ(refusal("beam_size: 1", "beam_size: 2"), "");
  EXPECT_NE(refusal("transf_encoder:\n  num_layers: 0", "transf_encoder:\n  num_layers: 2").find("transf_encoder"),
            std::string::npos);
  EXPECT_NE(refusal("pre_ln: true", "pre_ln: false").find("pre_ln"), std::string::npos);
  EXPECT_NE(refusal("pre_ln_final_layer_norm: true", "pre_ln_final_layer_norm: false").find("pre_ln_final"),
            std::string::npos);
  EXPECT_NE(refusal("hidden_act: relu", "hidden_act: gelu").find("hidden_act"), std::string::npos);
  EXPECT_NE(refusal("encodings: false", "encodings: true").find("learn_positional_encodings"), std::string::npos);
  EXPECT_NE(refusal("num_token_types: 0", "num_token_types: 2").find("num_token_types"), std::string::npos);
  EXPECT_NE(refusal("num_attention_heads: 2", "num_attention_heads: 3").find("hidden_size"), std::string::npos);
  EXPECT_NE(refusal("head:\n  num_layers: 1", "head:\n  num_layers: 2").find("head.num_layers"), std::string::npos);
  EXPECT_NE(refusal("canary2", "llama2").find("prompt_format: expected canary or canary2"), std::string::npos);
  EXPECT_NE(refusal("asr_enc_hidden: 16", "asr_enc_hidden: 17").find("asr_enc_hidden"), std::string::npos);
  EXPECT_NE(refusal("CanaryBPETokenizer", "CanaryTokenizer").find("custom_tokenizer"), std::string::npos);
  EXPECT_NE(refusal("strategy: beam", "strategy: sample").find("decoding.strategy"), std::string::npos);
  EXPECT_NE(refusal("beam_size: 1", "beam_size: 0").find("beam_size"), std::string::npos);
}

// What published configs hold beside what is read; a key that nobody has seen is named.
TEST(canary_config, other_keys) {
  const std::string more =
      "prompt_defaults:\n- role: user\n  slots:\n    decodercontext: ''\n    source_lang: <|en|>\n    emotion: "
      "<|emo:undefined|>\n    pnc: <|pnc|>\n- role: user_partial\n  slots:\n    decodercontext: ''\n"
      "multitask_metrics_cfg:\n  metrics:\n    wer:\n      _target_: x\n      constraint: .source_lang==.target_lang\n"
      "label_smoothing: 0.0\nuse_loss_mask_for_prompt: false\n";
  EXPECT_EQ(test::notes_of_nemo(config() + more), std::vector<std::string>());
  EXPECT_NE(test::refusal([&] {
              test::notes_of_nemo(with("    pre_ln: true\n", "    pre_ln: true\n    glu: true\n"));
            }).find("transf_decoder.config_dict.glu"),
            std::string::npos);
  EXPECT_NE(
      test::refusal([&] { test::notes_of_nemo(with("head:\n", "head:\n  bottleneck: 4\n")); }).find("head.bottleneck"),
      std::string::npos);
  const std::vector<std::string> notes = test::notes_of_nemo(with("beam_size: 1", "beam_size: 1\n    bias: 2"));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("decoding.beam.bias"), std::string::npos);
}

// Every size that tensors do not show is a key; the product of the scores is the embedding and stored once.
TEST(canary_archive, keys_of_the_recorded_ones) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"canary-v2", "canary-flash"}) {
    SCOPED_TRACE(name);
    const opened_checkpoint opened = open_checkpoint(shared / "golden/nemo" / name / "checkpoint/model.nemo");
    const gguf_file& f = opened.file;
    const bool flash = std::string(name) == "canary-flash";
    EXPECT_EQ(f.text("general.architecture"), "canary");
    EXPECT_EQ(f.text("canary.prompt_format"), "canary2");
    EXPECT_EQ(f.number("canary.transf_decoder.attention_heads"), 4);
    EXPECT_EQ(f.number("canary.encoder_decoder_proj"), flash ? 1 : 0);
    EXPECT_EQ(f.number("canary.decoding.beam_size"), 1);
    EXPECT_EQ(f.number("canary.decoding.max_generation_delta"), 50);
    EXPECT_EQ(f.has("canary.tokenizer.names"), flash);
    EXPECT_TRUE(f.find("transf_decoder.1.second_sub_layer.out_projection.weight").has_value());
    EXPECT_FALSE(f.find("log_softmax.mlp.layer0.weight").has_value());
    EXPECT_EQ(f.find("encoder_decoder_proj.weight").has_value(), flash);
  }
}

}  // namespace canary_test
