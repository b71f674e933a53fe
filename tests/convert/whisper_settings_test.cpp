// No key of a Whisper folder's JSON files is overlooked: each is honoured, refused by name or noted.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/whisper.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/mapped_and_copied.hpp"
#include "convert/small_whisper.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace whisper_settings_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::write_text;

// A folder with a vocabulary of its own: 20 letters, eot 20, sot 21, en 22, zh 23, translate 24, transcribe 25,
// startoflm 26, startofprev 27, nospeech 28, notimestamps 29, times from 30.
class whisper_settings : public testing::Test {
 protected:
  void SetUp() override {
    test::write_small_whisper(dir_.path());
    config_ = test::read_json(dir_.path() / "config.json");
  }
  void write(const char* file, const json& j) { write_text(dir_.path() / file, j.dump()); }
  opened_checkpoint opened(const json& generation) {
    write("config.json", config_);
    write("generation_config.json", generation);
    if (!features_.is_null()) write("preprocessor_config.json", features_);
    return open_checkpoint(dir_.path());
  }
  std::string refused(const json& generation) {
    return test::refusal([&] { notes_ = opened(generation).notes; });
  }
  static json generation() { return {{"suppress_tokens", {1, 25}}, {"begin_suppress_tokens", {3, 20}}}; }
  static json generation(const std::string& key, const json& value) {
    json j = generation();
    j[key] = value;
    return j;
  }
  const test::temporary_directory dir_;
  json config_, features_;
  std::vector<std::string> notes_;
};

whisper::whisper_generation generation_of(const gguf_file& file) { return whisper::whisper_any(file).generation; }

TEST_F(whisper_settings, tokens_that_never_come) {
  const opened_checkpoint o = opened(generation());
  EXPECT_EQ(generation_of(o.file).suppressed, (std::vector<int>{1, 25}));
  EXPECT_EQ(generation_of(o.file).first_suppressed, (std::vector<int>{3, 20}));
  EXPECT_TRUE(o.notes.empty());
  // None is an answer, and a file that generates says all of it.
  for (const json& none : {json{{"suppress_tokens", json::array()}, {"begin_suppress_tokens", nullptr}},
                           json{{"is_multilingual", true}}}) {
    const opened_checkpoint other = opened(none);
    EXPECT_EQ(generation_of(other.file).suppressed, std::vector<int>());
    EXPECT_EQ(generation_of(other.file).first_suppressed, std::vector<int>());
  }
  for (const char* key : {"suppress_tokens", "begin_suppress_tokens"})
    for (const json& bad : {json{-1}, json{1531}, json("1"), json{{1, 2}}, json{1.5}})
      EXPECT_NE(refused(generation(key, bad)).find(key), std::string::npos) << key << bad;
  // Without that file, config.json says it, or openai's rules hold.
  config_["suppress_tokens"] = {7};
  write("config.json", config_);
  fs::remove(dir_.path() / "generation_config.json");
  EXPECT_EQ(generation_of(open_checkpoint(dir_.path()).file).suppressed, std::vector<int>{7});
  EXPECT_FALSE(generation_of(open_checkpoint(dir_.path()).file).first_suppressed.has_value());
}

TEST_F(whisper_settings, what_the_prompt_says_when_the_user_does_not) {
  const auto said = [&](const std::string& key, const json& value) {
    const opened_checkpoint o = opened(generation(key, value));
    EXPECT_TRUE(o.notes.empty()) << o.notes[0];
    const whisper::whisper_generation g = generation_of(o.file);
    return std::pair(g.language, g.translate);
  };
  using pair = std::pair<int, bool>;
  EXPECT_EQ(said("forced_decoder_ids", {{1, nullptr}, {2, 25}}), pair(-1, false));
  EXPECT_EQ(said("forced_decoder_ids", {{1, 23}, {2, 24}, {3, 29}}), pair(1, true));
  EXPECT_EQ(said("forced_decoder_ids", nullptr), pair(-1, false));
  for (const char* chinese : {"zh", "<|zh|>", "Chinese", "mandarin"}) EXPECT_EQ(said("language", chinese).first, 1);
  EXPECT_EQ(said("task", "translate"), pair(-1, true));
  // Names win over ids.
  json j = generation("forced_decoder_ids", {{1, 23}, {2, 24}});
  j["language"] = "en";
  const whisper::whisper_generation g = generation_of(opened(j).file);
  EXPECT_EQ(std::pair(g.language, g.translate), pair(0, false));
  for (const json& bad : {json{{1, 3}}, json{{1, 28}}, json{{1, -1}}, json{1}, json("x"), json{{"a", 1}}})
    EXPECT_NE(refused(generation("forced_decoder_ids", bad)).find("forced_decoder_ids"), std::string::npos) << bad;
  EXPECT_NE(refused(generation("language", "elvish")).find("language"), std::string::npos);
  EXPECT_NE(refused(generation("language", "de")).find("whisper.language"), std::string::npos) << "not in it";
  EXPECT_NE(refused(generation("task", "summarise")).find("task"), std::string::npos);
}

TEST_F(whisper_settings, languages_and_tasks) {
  EXPECT_TRUE(generation_of(opened(generation("lang_to_id", {{"<|en|>", 22}, {"<|zh|>", 23}})).file).languages.empty());
  const opened_checkpoint one = opened(generation("lang_to_id", {{"<|zh|>", 23}}));
  EXPECT_EQ(generation_of(one.file).languages, std::vector<int>{1});
  const whisper::whisper_any model(one.file);
  EXPECT_EQ(model.languages(), std::vector<std::string>{"zh"});
  EXPECT_TRUE(model.supports_language("chinese"));
  EXPECT_FALSE(model.supports_language("en"));
  for (const json& bad : {json{{"<|en|>", 23}}, json{{"<|de|>", 24}}, json{{"<|elvish|>", 22}}})
    EXPECT_NE(refused(generation("lang_to_id", bad)).find("lang_to_id"), std::string::npos) << bad;
  EXPECT_EQ(refused(generation("task_to_id", {{"transcribe", 25}, {"translate", 24}})), "");
  for (const json& bad : {json{{"transcribe", 24}}, json{{"translate", 25}}, json{{"chat", 26}}})
    EXPECT_NE(refused(generation("task_to_id", bad)).find("task_to_id"), std::string::npos) << bad;
  EXPECT_FALSE(whisper::whisper_any(opened(generation("is_multilingual", false)).file).tokenizer.multilingual);
  EXPECT_TRUE(whisper::whisper_any(opened(generation("is_multilingual", true)).file).tokenizer.multilingual);
}

// Ids that follow from the vocabulary must be where they follow to; another place would give another text.
TEST_F(whisper_settings, ids_and_numbers_that_steno_computes) {
  const std::pair<const char*, int> ids[] = {{"eos_token_id", 20},
                                             {"decoder_start_token_id", 21},
                                             {"no_timestamps_token_id", 29},
                                             {"prev_sot_token_id", 27},
                                             {"median_filter_width", 7}};
  for (const auto& [key, id] : ids) {
    EXPECT_EQ(refused(generation(key, id)), "") << key;
    EXPECT_EQ(refused(generation(key, nullptr)), "") << key;
    EXPECT_TRUE(notes_.empty());
    for (const json& bad : {json(id + 1), json{id, 3}, json("x")})
      EXPECT_NE(refused(generation(key, bad)).find(key), std::string::npos) << key << bad;
  }
  EXPECT_EQ(generation_of(opened(generation("max_initial_timestamp_index", 1)).file).max_initial, 1);
  EXPECT_FALSE(generation_of(opened(generation("max_initial_timestamp_index", 50)).file).max_initial.has_value());
  EXPECT_NE(refused(generation("max_initial_timestamp_index", 0)).find("max_initial"), std::string::npos);
}

TEST_F(whisper_settings, parts_of_another_kind_are_refused) {
  const std::pair<const char*, json> others[] = {{"activation_function", "relu"},
                                                 {"scale_embedding", true},
                                                 {"tie_word_embeddings", false},
                                                 {"encoder_ffn_dim", 64},
                                                 {"decoder_ffn_dim", 64},
                                                 {"median_filter_width", 5},
                                                 {"architectures", {"WhisperForAudioClassification"}},
                                                 {"quantization_config", {{"load_in_4bit", true}}},
                                                 {"layer_norm_eps", 1e-6},
                                                 {"d_model", 33},
                                                 {"vocab_size", 1532}};
  const json good = config_;
  for (const auto& [key, value] : others) {
    config_ = good;
    config_[key] = value;
    EXPECT_NE(refused(generation()), "") << key;
  }
}

TEST_F(whisper_settings, features_of_another_kind_are_refused) {
  const json good{{"chunk_length", 0.16},
                  {"feature_extractor_type", "WhisperFeatureExtractor"},
                  {"feature_size", 80},
                  {"hop_length", 160},
                  {"n_fft", 400},
                  {"n_samples", 2560},
                  {"nb_max_frames", 16},
                  {"padding_side", "right"},
                  {"padding_value", 0.0},
                  {"processor_class", "WhisperProcessor"},
                  {"sampling_rate", 16000},
                  {"return_attention_mask", false},
                  {"dither", 0.0},
                  {"do_normalize", false},
                  {"mel_filters", {{0.5, 0.25}, {0.0, 0.0}}}};
  features_ = good;
  EXPECT_EQ(refused(generation()), "");
  EXPECT_TRUE(notes_.empty()) << notes_[0];
  const std::pair<const char*, json> others[] = {
      {"feature_size", 128},  {"hop_length", 128},     {"n_fft", 512},        {"sampling_rate", 8000},  {"dither", 0.1},
      {"do_normalize", true}, {"padding_value", -1.5}, {"preemphasis", 0.97}, {"sampling_rate", {8000}}};
  for (const auto& [key, value] : others) {
    features_ = good;
    features_[key] = value;
    EXPECT_NE(refused(generation()).find(key), std::string::npos) << key;
  }
  // Clips are as long as the encoder's positions, whatever the extractor pads to.
  const std::pair<const char*, json> lengths[] = {{"chunk_length", 30}, {"n_samples", 480000}, {"nb_max_frames", 15}};
  for (const auto& [key, value] : lengths) {
    features_ = good;
    features_[key] = value;
    EXPECT_EQ(refused(generation()), "") << key;
    ASSERT_EQ(notes_.size(), 1u) << key;
    EXPECT_NE(notes_[0].find(key), std::string::npos) << notes_[0];
  }
}

TEST_F(whisper_settings, another_search_is_noted) {
  EXPECT_EQ(refused(generation("num_beams", 1)), "");
  EXPECT_TRUE(notes_.empty());
  const std::pair<const char*, json> others[] = {
      {"num_beams", 5},    {"repetition_penalty", 1.2}, {"no_repeat_ngram_size", 3},
      {"do_sample", true}, {"bad_words_ids", {{1, 2}}}, {"temperature", {0.0, 0.2}}};
  for (const auto& [key, value] : others) {
    EXPECT_EQ(refused(generation(key, value)), "") << key;
    ASSERT_EQ(notes_.size(), 1u) << key;
    EXPECT_NE(notes_[0].find(key), std::string::npos) << notes_[0];
  }
}

// A key that nobody knows, anywhere: a note or an error, never silence.
TEST_F(whisper_settings, an_unknown_key_is_never_silent) {
  std::mt19937 random(1);
  const auto word = [&] {
    std::string s;
    for (int i = 0; i < 8; ++i) s += static_cast<char>('a' + random() % 26);
    return s;
  };
  const json good = config_;
  features_ = json{{"feature_size", 80}};
  const json values[] = {1, 0.5, true, nullptr, "text", json::array(), {1, 2}, json::object(), {{"inner", 1}}};
  for (const char* file : {"config", "generation", "features"})
    for (const char* beginning : {"", "encoder_", "suppress_", "num_", "task_to_id."})
      for (const json& value : values) {
        // generation_config.json decides, so the whole map of config.json does not count.
        if (std::string_view(file) == "config" && std::string_view(beginning) == "task_to_id.") continue;
        config_ = good;
        features_ = json{{"feature_size", 80}};
        json g = generation();
        const std::string key = beginning + word();
        json& at = std::string_view(file) == "config" ? config_ : std::string_view(file) == "features" ? features_ : g;
        if (key.starts_with("task_to_id."))
          at["task_to_id"][key.substr(11)] = value;
        else
          at[key] = value;
        notes_.clear();
        std::string all = refused(g);
        for (const std::string& note : notes_) all += note;
        const std::string shown = key.substr(key.find('.') + 1);
        EXPECT_NE(all.find(shown), std::string::npos) << file << " " << key << " " << value << ": " << all;
      }
}

TEST_F(whisper_settings, moved_special_tokens_are_refused) {
  for (const char* token : {"<|en|>", "<|zh|>", "<|transcribe|>", "<|startofprev|>", "<|0.00|>"}) {
    write("tokenizer_config.json", {{"added_tokens_decoder", {{"19", {{"content", token}, {"special", true}}}}}});
    EXPECT_NE(refused(generation()).find(token), std::string::npos) << token;
  }
}

// Fine-tunes are saved with and without "model.", with the output's weights or without, in one file or in shards.
TEST_F(whisper_settings, weights_in_every_usual_form) {
  using namespace test::small_whisper;
  const auto image = [&] { return test::image_of(open_checkpoint(dir_.path())); };
  const std::vector<std::byte> wanted = image();
  auto tensors = small_tensors(32, 1531, 8, 16);
  write_safetensors(dir_.path() / "model.safetensors", tensors, false);
  EXPECT_TRUE(image() == wanted);
  fs::remove(dir_.path() / "model.safetensors");
  std::map<std::string, named_tensor> parts[2];
  json index;
  std::size_t i = 0;
  for (auto& [name, t] : tensors) {
    const std::size_t part = i++ % 2;
    index["weight_map"][huggingface_name(name)] =
        part == 0 ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
    parts[part][name] = t;
  }
  write_safetensors(dir_.path() / "model-00001-of-00002.safetensors", parts[0]);
  write_safetensors(dir_.path() / "model-00002-of-00002.safetensors", parts[1]);
  write("model.safetensors.index.json", index);
  EXPECT_TRUE(image() == wanted);
  EXPECT_TRUE(test::image_of(open_checkpoint(dir_.path() / "model.safetensors.index.json")) == wanted);
  fs::remove(dir_.path() / "model-00002-of-00002.safetensors");
  EXPECT_NE(test::refusal([&] { image(); }).find("\"model-00002-of-00002.safetensors\""), std::string::npos);
}

TEST(whisper_folders, the_golden_folder_says_what_openai_does) {
  STENO_REQUIRE_SHARED(shared);
  const opened_checkpoint o = open_checkpoint(shared / "golden/whisper/v3/checkpoint/hf");
  EXPECT_TRUE(o.notes.empty()) << o.notes[0];
  for (const char* key : {"suppress_tokens", "begin_suppress_tokens", "languages", "language", "translate",
                          "max_initial_timestamp_index", "multilingual"})
    EXPECT_FALSE(o.file.has("whisper." + std::string(key))) << key;
}

}  // namespace whisper_settings_test
