// openai's checkpoints come without a tokenizer: it is found where it usually is, or a message says what to do.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/mapped_and_copied.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/variable.hpp"
#include "whisper/whisper.hpp"

namespace whisper_tokenizer_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using test::write_text;

constexpr const char* variables[] = {"HOME",         "PYTHONPATH",    "VIRTUAL_ENV",
                                     "CONDA_PREFIX", "HF_HUB_CACHE",  "HUGGINGFACE_HUB_CACHE",
                                     "HF_HOME",      "XDG_CACHE_HOME"};

// A machine of its own: no variable leads to the real one's environments and caches.
class whisper_tokenizer : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < std::size(variables); ++i) {
      if (const char* value = std::getenv(variables[i])) before_[i] = value;
      test::unset_variable(variables[i]);
    }
    test::set_variable("HOME", (dir_.path() / "home").string());
  }
  void TearDown() override {
    for (std::size_t i = 0; i < std::size(variables); ++i)
      before_[i] ? test::set_variable(variables[i], *before_[i]) : test::unset_variable(variables[i]);
  }

  static std::string tokenizer_is(fs::path file) { return "the tokenizer is " + file.make_preferred().string(); }
  // As many tokens as the published table has, each another number.
  static void write_table(const fs::path& file, int count) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (int i = 0; i < count; ++i) {
      for (int shift = 18; shift >= 0; shift -= 6) text += digits[static_cast<std::size_t>(i >> shift & 63)];
      text.append(" ").append(std::to_string(i)).append("\n");
    }
    fs::create_directories(file.parent_path());
    write_text(file, text);
  }
  static void write_vocabulary(const fs::path& file, int count, bool whole = false) {
    json vocabulary;
    for (int i = 0; i < count; ++i) vocabulary[std::string("t").append(std::to_string(i))] = i;
    vocabulary["<|endoftext|>"] = count;
    fs::create_directories(file.parent_path());
    write_text(file, (whole ? json{{"model", {{"vocab", vocabulary}}}} : vocabulary).dump());
  }
  std::string found(const fs::path& beside, std::uint32_t vocabulary = 51865,
                    const std::optional<fs::path>& named = {}) {
    notes_.clear();
    whisper_files::settings s;
    s.vocabulary = vocabulary;
    return whisper_files::find_tokens(beside, s, named, notes_)[7];
  }
  std::string refused(const fs::path& beside, std::uint32_t vocabulary = 51865,
                      const std::optional<fs::path>& named = {}) {
    return test::refusal([&] { found(beside, vocabulary, named); });
  }
  static bool on_this_machine() {
    for (const fs::path& at : whisper_files::tokenizer_places(false))
      if (fs::exists(at)) return true;
    return false;
  }

  const test::temporary_directory dir_;
  std::array<std::optional<std::string>, std::size(variables)> before_;
  std::vector<std::string> notes_;
  const std::string letters_ = byte_letters(std::string("\0\0\7", 3));
};

TEST_F(whisper_tokenizer, beside_the_file_without_a_word) {
  const fs::path model = dir_.path() / "model.pt";
  for (const char* place : {"multilingual.tiktoken", "assets/multilingual.tiktoken"}) {
    write_table(dir_.path() / place, 50257);
    EXPECT_EQ(found(model), letters_);
    EXPECT_TRUE(notes_.empty());
    fs::remove(dir_.path() / place);
  }
  write_vocabulary(dir_.path() / "tokenizer.json", 50257, true);
  EXPECT_EQ(found(model), "t7");
  write_vocabulary(dir_.path() / "vocab.json", 50257);
  EXPECT_EQ(found(model), "t7");
}

TEST_F(whisper_tokenizer, in_an_installed_package) {
  const fs::path model = dir_.path() / "cache/model.pt", home = dir_.path() / "home";
  const fs::path user = home / ".local/lib/python3.11/site-packages/whisper/assets";
  write_table(user / "multilingual.tiktoken", 50257);
  write_table(user / "gpt2.tiktoken", 50256);
  EXPECT_EQ(found(model), letters_);
  EXPECT_EQ(notes_, std::vector<std::string>{tokenizer_is(user / "multilingual.tiktoken")});
  EXPECT_EQ(found(model, 51864), letters_);
  EXPECT_EQ(notes_, std::vector<std::string>{tokenizer_is(user / "gpt2.tiktoken")});
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const fs::path prefix = dir_.path() / variable;
    const fs::path file = prefix / "lib/python3.12/site-packages/whisper/assets/multilingual.tiktoken";
    write_table(file, 50257);
    test::set_variable(variable, prefix.string());
    found(model);
    EXPECT_EQ(notes_, std::vector<std::string>{tokenizer_is(file)}) << variable;
    test::unset_variable(variable);
  }
  const fs::path path = dir_.path() / "packages/mlx_whisper/assets/multilingual.tiktoken";
  write_table(path, 50257);
  test::set_variable("PYTHONPATH", test::path_list({"/nowhere", dir_.path() / "packages"}));
  found(model);
  EXPECT_EQ(notes_, std::vector<std::string>{tokenizer_is(path)});
}

TEST_F(whisper_tokenizer, in_the_cache_of_hugging_face) {
  const fs::path model = dir_.path() / "cache/model.pt", home = dir_.path() / "home";
  const auto snapshot = [](const fs::path& hub, const char* name) {
    return hub / ("models--openai--whisper-" + std::string(name)) / "snapshots/0123";
  };
  const fs::path usual = home / ".cache/huggingface/hub";
  write_vocabulary(snapshot(usual, "tiny.en") / "vocab.json", 50256);
  if (!on_this_machine()) {
    EXPECT_NE(refused(model), "") << "that of English-only models is another one";
  }
  write_vocabulary(snapshot(usual, "tiny") / "vocab.json", 50257);
  EXPECT_EQ(found(model), "t7");
  EXPECT_EQ(notes_, std::vector<std::string>{tokenizer_is(snapshot(usual, "tiny") / "vocab.json")});
  const std::pair<const char*, const char*> roots[] = {
      {"XDG_CACHE_HOME", "huggingface/hub"}, {"HF_HOME", "hub"}, {"HUGGINGFACE_HUB_CACHE", ""}, {"HF_HUB_CACHE", ""}};
  for (const auto& [variable, below] : roots) {
    const fs::path root = dir_.path() / variable, file = snapshot(root / below, "base") / "tokenizer.json";
    write_vocabulary(file, 50257, true);
    test::set_variable(variable, root.string());
    EXPECT_EQ(found(model), "t7");
    EXPECT_EQ(fs::path(notes_.at(0).substr(17)).lexically_normal(), file.lexically_normal()) << variable;
  }
}

TEST_F(whisper_tokenizer, what_is_not_there_is_told_with_both_remedies) {
  if (on_this_machine()) GTEST_SKIP() << "this machine has one";
  const std::string said = refused(dir_.path() / "large-v3.pt", 51866);
  for (const char* part : {"large-v3.pt: comes without a tokenizer", "multilingual.tiktoken", "--tokenizer FILE",
                           "pip install openai-whisper"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_NE(refused(dir_.path() / "tiny.en.pt", 51864).find("gpt2.tiktoken"), std::string::npos);
}

// The tables differ by one token, and a vocabulary of the other kind would give other words.
TEST_F(whisper_tokenizer, another_models_tokenizer_is_refused) {
  const fs::path model = dir_.path() / "model.pt";
  write_vocabulary(dir_.path() / "english.json", 50256);
  write_vocabulary(dir_.path() / "all.json", 50257);
  EXPECT_NE(refused(model, 51865, dir_.path() / "english.json").find("is the tokenizer of another model"),
            std::string::npos);
  EXPECT_NE(refused(model, 51864, dir_.path() / "all.json").find("is the tokenizer of another model"),
            std::string::npos);
  EXPECT_EQ(found(model, 51864, dir_.path() / "english.json"), "t7");
  EXPECT_EQ(found(model, 51865, dir_.path() / "all.json"), "t7");
  fs::create_directories(dir_.path() / "nothing");
  EXPECT_NE(refused(model, 51865, dir_.path() / "nothing").find("holds no tokenizer"), std::string::npos);
  // A damaged one elsewhere is no reason to stop: the next place may have it.
  test::set_variable("PYTHONPATH", test::path_list({dir_.path() / "a", dir_.path() / "b"}));
  fs::create_directories(dir_.path() / "a/whisper/assets");
  write_text(dir_.path() / "a/whisper/assets/multilingual.tiktoken", "damaged");
  write_table(dir_.path() / "b/whisper/assets/multilingual.tiktoken", 50257);
  EXPECT_EQ(found(model), letters_);
}

TEST_F(whisper_tokenizer, of_openais_file_for_every_program) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path pt = shared / "golden/whisper/multi/checkpoint/openai/model.pt";
  const fs::path table = shared / "assets/whisper/multilingual.tiktoken";
  const opened_checkpoint named = open_checkpoint(pt, weights::file_reading::mapped, table);
  EXPECT_TRUE(named.notes.empty());
  const fs::path packages = dir_.path() / "packages";
  fs::create_directories(packages / "whisper/assets");
  fs::copy_file(table, packages / "whisper/assets/multilingual.tiktoken");
  test::set_variable("PYTHONPATH", packages.string());
  const opened_checkpoint found = open_checkpoint(pt);
  EXPECT_TRUE(test::image_of(found) == test::image_of(named));
  EXPECT_EQ(found.notes.size(), 1u);
  // A model with a tokenizer of its own says that the named one is not used.
  const opened_checkpoint own = open_checkpoint(shared / "golden/whisper/en/checkpoint/ggml/ggml-model.bin",
                                                weights::file_reading::mapped, table);
  EXPECT_EQ(own.notes, std::vector<std::string>{"--tokenizer is not used: the model has its own"});
}

}  // namespace whisper_tokenizer_test
