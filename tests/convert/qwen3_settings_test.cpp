// No key of a Qwen3-ASR folder's JSON files is overlooked: each is honoured, refused by name or noted.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace qwen3_settings_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

class qwen3_settings : public testing::Test {
 protected:
  void take(const fs::path& golden) {
    test::copy_folder(golden, folder_);
    for (const char* name : names) files_[name] = test::read_json(folder_ / name);
  }
  // What is said of the folder with these files: the refusal, or the notes.
  std::string said(const std::map<std::string, json>& files) {
    for (const auto& [name, j] : files) {
      fs::remove(folder_ / name);
      test::write_text(folder_ / name, j.dump());
    }
    std::string all;
    const std::string refusal = test::refusal([&] {
      for (const std::string& note : open_checkpoint(folder_).notes) all += note;
    });
    return refusal.empty() ? all : refusal;
  }
  std::string with(const char* file, const std::string& pointer, const json& value) {
    std::map<std::string, json> files = files_;
    files[file][json::json_pointer(pointer)] = value;
    return said(files);
  }
  static constexpr const char* names[] = {"config.json", "generation_config.json", "preprocessor_config.json",
                                          "tokenizer_config.json"};
  const test::temporary_directory dir_;
  const fs::path folder_ = dir_.path() / "checkpoint";
  std::map<std::string, json> files_;
};

TEST_F(qwen3_settings, golden_folders_hold_no_unknown_key) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"qwen3-asr-0.6b", "qwen3-asr-1.7b", "qwen3-forcedaligner-0.6b"}) {
    const opened_checkpoint o = open_checkpoint(shared / "golden/qwen3_asr" / name / "checkpoint");
    EXPECT_TRUE(o.notes.empty()) << name << ": " << o.notes[0];
  }
}

// The published files write out everything that a class of transformers' has.
TEST_F(qwen3_settings, what_classes_of_transformers_write_is_known) {
  STENO_REQUIRE_SHARED(shared);
  take(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint");
  const json dump{{"_name_or_path", ""},
                  {"add_cross_attention", false},
                  {"bad_words_ids", nullptr},
                  {"begin_suppress_tokens", nullptr},
                  {"bos_token_id", nullptr},
                  {"chunk_size_feed_forward", 0},
                  {"cross_attention_hidden_size", nullptr},
                  {"decoder_start_token_id", nullptr},
                  {"diversity_penalty", 0.0},
                  {"do_sample", false},
                  {"dtype", "bfloat16"},
                  {"early_stopping", false},
                  {"encoder_no_repeat_ngram_size", 0},
                  {"eos_token_id", nullptr},
                  {"exponential_decay_length_penalty", nullptr},
                  {"finetuning_task", nullptr},
                  {"forced_bos_token_id", nullptr},
                  {"forced_eos_token_id", nullptr},
                  {"id2label", {{"0", "LABEL_0"}, {"1", "LABEL_1"}}},
                  {"is_decoder", false},
                  {"is_encoder_decoder", false},
                  {"label2id", {{"LABEL_0", 0}, {"LABEL_1", 1}}},
                  {"length_penalty", 1.0},
                  {"max_length", 20},
                  {"min_length", 0},
                  {"no_repeat_ngram_size", 0},
                  {"num_beam_groups", 1},
                  {"num_beams", 1},
                  {"num_return_sequences", 1},
                  {"output_attentions", false},
                  {"output_hidden_states", false},
                  {"output_scores", false},
                  {"pad_token_id", nullptr},
                  {"prefix", nullptr},
                  {"problem_type", nullptr},
                  {"pruned_heads", json::object()},
                  {"remove_invalid_values", false},
                  {"repetition_penalty", 1.0},
                  {"return_dict", true},
                  {"return_dict_in_generate", false},
                  {"sep_token_id", nullptr},
                  {"suppress_tokens", nullptr},
                  {"task_specific_params", nullptr},
                  {"temperature", 1.0},
                  {"tf_legacy_loss", false},
                  {"tie_encoder_decoder", false},
                  {"tokenizer_class", nullptr},
                  {"top_k", 50},
                  {"top_p", 1.0},
                  {"torchscript", false},
                  {"typical_p", 1.0},
                  {"use_bfloat16", false}};
  std::map<std::string, json> files = files_;
  for (const auto& [key, value] : dump.items()) files["config.json"]["thinker_config"]["audio_config"][key] = value;
  EXPECT_EQ(said(files), "");
}

// Qwen3-0.6B's config.json, which lies beside Fun-ASR-Nano's weights, names what it does without.
TEST_F(qwen3_settings, no_scaling_of_positions_may_be_named) {
  STENO_REQUIRE_SHARED(shared);
  take(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint");
  EXPECT_EQ(with("config.json", "/thinker_config/text_config/rope_scaling", nullptr), "");
  EXPECT_EQ(with("config.json", "/thinker_config/text_config/rope_parameters", nullptr), "");
  const std::string said = with("config.json", "/thinker_config/text_config/rope_scaling", "yarn");
  EXPECT_NE(said.find("text_config.rope_scaling is not supported: expected null, found \"yarn\""), std::string::npos)
      << said;
}

TEST_F(qwen3_settings, other_models_are_refused_by_name) {
  STENO_REQUIRE_SHARED(shared);
  take(shared / "golden/qwen3_asr/qwen3-asr-0.6b/checkpoint");
  const std::pair<const char*, json> others[] = {{"/thinker_config/text_config/rms_norm_eps", 1e-5},
                                                 {"/thinker_config/text_config/hidden_act", "gelu"},
                                                 {"/thinker_config/text_config/attention_bias", true},
                                                 {"/thinker_config/text_config/use_sliding_window", true},
                                                 {"/thinker_config/text_config/rope_theta", 0.5},
                                                 {"/thinker_config/text_config/rope_scaling/rope_type", "yarn"},
                                                 {"/thinker_config/text_config/rope_scaling/factor", 4.0},
                                                 {"/thinker_config/text_config/layer_types", {"sliding_attention"}},
                                                 {"/thinker_config/audio_config/activation_function", "relu"},
                                                 {"/thinker_config/audio_config/scale_embedding", true},
                                                 {"/thinker_config/audio_config/num_mel_bins", 80},
                                                 {"/thinker_config/audio_config/n_window", 0}};
  for (const auto& [pointer, value] : others) {
    const std::string key = std::string(pointer).substr(std::string_view(pointer).rfind('/') + 1);
    EXPECT_NE(with("config.json", pointer, value).find(key == "num_mel_bins" ? "feature_size" : key), std::string::npos)
        << key << ": " << with("config.json", pointer, value);
  }
  const std::pair<const char*, json> features[] = {
      {"/feature_size", 80}, {"/hop_length", 128},  {"/n_fft", 512},         {"/sampling_rate", 8000},
      {"/dither", 0.1},      {"/padding_value", 1}, {"/do_normalize", true}, {"/preemphasis", 0.97}};
  for (const auto& [pointer, value] : features)
    EXPECT_NE(with("preprocessor_config.json", pointer, value).find(pointer + 1), std::string::npos) << pointer;
  EXPECT_NE(with("generation_config.json", "/repetition_penalty", 1.5).find("repetition_penalty"), std::string::npos);
  EXPECT_NE(with("generation_config.json", "/eos_token_id", "x").find("eos_token_id"), std::string::npos);
  EXPECT_NE(with("tokenizer_config.json", "/add_prefix_space", true).find("add_prefix_space"), std::string::npos);
}

TEST_F(qwen3_settings, an_unknown_key_is_never_silent) {
  STENO_REQUIRE_SHARED(shared);
  take(shared / "golden/qwen3_asr/qwen3-forcedaligner-0.6b/checkpoint");
  std::mt19937 random(1);
  const json values[] = {1, true, nullptr, "text", json::array(), {1, 2}, json::object(), {{"inner", 1}}};
  const std::pair<const char*, const char*> places[] = {{"config.json", "/"},
                                                        {"config.json", "/thinker_config/"},
                                                        {"config.json", "/thinker_config/audio_config/"},
                                                        {"config.json", "/thinker_config/text_config/"},
                                                        {"config.json", "/thinker_config/text_config/rope_scaling/"},
                                                        {"generation_config.json", "/"},
                                                        {"preprocessor_config.json", "/"},
                                                        {"tokenizer_config.json", "/"}};
  for (const auto& [file, at] : places)
    for (const json& value : values) {
      std::string key;
      for (int i = 0; i < 8; ++i) key += static_cast<char>('a' + random() % 26);
      EXPECT_NE(with(file, at + key, value).find(key), std::string::npos)
          << file << at << key << " " << value << ": " << with(file, at + key, value);
    }
}

}  // namespace qwen3_settings_test
