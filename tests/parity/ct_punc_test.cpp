// CT-Transformer punctuation against the original implementation: every stage of every pass, marks and text of the
// golden cases, from the checkpoint through the converter; with texts cut into characters, and by jieba's dictionary.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/ct_punc.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/ct_punc.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace ct_punc_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

// The contract's bound for f32: 1e-4 of max(1, absmax). Sums run in another order than torch's, nothing else differs.
// The smallest distance between the two best marks is 1.9, so f16 and q8_0 say the same.
TEST(parity_ct_punc, stages_marks_and_text_equal_the_original) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/punc";
  std::ifstream in(folder / "expected.json");
  const json want = json::parse(in);
  std::map<std::string, npy::array> golden;
  for (const auto& f : fs::directory_iterator(folder / "stages"))
    golden.emplace(f.path().stem().string().substr(3), npy::load(f.path()));
  for (const dtype type : {dtype::f32, dtype::f16, dtype::q8_0}) {
    SCOPED_TRACE(core::info(type).name);
    const test::temporary_directory scratch;
    const fs::path file = scratch.path() / "model.gguf";
    convert(folder / "checkpoint", file, {.type = type});
    const auto model = load<funasr::ct_punc_any>(file.string());
    std::size_t seen = 0;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      const std::string name = stages::ct_punc(path);
      const auto stage = golden.find(name);
      if (type != dtype::f32 || stage == golden.end()) return;
      ++seen;
      ASSERT_EQ(stage->second.size(), x.rows() * x.cols()) << name;
      EXPECT_LE(test::compare(x, stage->second).relative(), 1e-4) << name;
    };
    context c(executor{}, core::tracer(sink));
    const funasr::punctuated_text got = model.punctuate(want["input_text"].get<std::string>(), c, want["split_size"]);
    EXPECT_EQ(got.text, want["text"].get<std::string>());
    EXPECT_EQ(got.marks, want["punc_array"].get<std::vector<int>>());
    EXPECT_EQ(seen, type == dtype::f32 ? golden.size() : 0u);
  }
}

// The excerpt of jieba's dictionary that the case has cuts its texts as the whole one.
TEST(parity_ct_punc, words_of_a_dictionary_equal_the_original) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/punc-jieba";
  std::ifstream in(folder / "expected.json");
  const json want = json::parse(in);
  std::map<std::string, npy::array> golden;
  for (const auto& f : fs::directory_iterator(folder / "stages"))
    golden.emplace(f.path().stem().string().substr(3), npy::load(f.path()));
  const test::temporary_directory scratch;
  for (const std::string form : {"with_dictionary", "without_dictionary"}) {
    SCOPED_TRACE(form);
    const fs::path copy = scratch.path() / form, file = scratch.path() / (form + ".gguf");
    test::copy_folder(folder / "checkpoint", copy);
    const bool words = form == "with_dictionary";
    if (!words) fs::remove(copy / "jieba_usr_dict");
    convert_options options{.type = dtype::f32};
    if (words) options.jieba_dict = folder / "jieba_dict_excerpt.txt";
    const auto notes = convert(copy, file, options);
    EXPECT_EQ(notes.size(), words ? 0u : 1u);
    const auto model = load<funasr::ct_punc_any>(file.string());
    EXPECT_EQ(model.dictionary.empty(), !words);
    if (words) {
      EXPECT_EQ(model.dictionary.total, want["jieba_total_after"].get<double>());
      for (const auto& [word, frequency] : want["user_words"].items())
        EXPECT_EQ(model.dictionary.frequency(word), frequency.get<std::uint32_t>()) << word;
    }
    std::size_t seen = 0;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      const std::string name = stages::ct_punc(path);
      const auto stage = golden.find(name);
      if (!words || stage == golden.end()) return;
      ++seen;
      ASSERT_EQ(stage->second.size(), x.rows() * x.cols()) << name;
      EXPECT_LE(test::compare(x, stage->second).relative(), 1e-4) << name;
    };
    context c(executor{}, core::tracer(sink));
    extent number = 0;
    for (const json& run : want["runs"]) {
      if (run["form"] != form) continue;
      auto scope = c.enter("text", number++);
      const std::string text = run["text"];
      EXPECT_EQ(model.split(text), run["words"].get<std::vector<std::string>>());
      const funasr::punctuated_text got = model.punctuate(text, c);
      EXPECT_EQ(got.text, run["result"].get<std::string>());
      EXPECT_EQ(got.marks, run["punc_array"].get<std::vector<int>>()) << text;
    }
    EXPECT_EQ(number, 10);
    EXPECT_EQ(seen, words ? golden.size() : 0u);
  }
}

}  // namespace ct_punc_test
