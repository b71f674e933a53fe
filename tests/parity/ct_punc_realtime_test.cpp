// CT-Transformer for streams against the original implementation: every stage of every pass over all pieces, texts,
// marks and the cache between them, from the checkpoint through the converter.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/ct_punc_realtime.hpp>

#include "convert/convert.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/ct_punc.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace ct_punc_realtime_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

// The contract's bound for f32: 1e-4 of max(1, absmax). The smallest distance between the two best marks is 3.2, so f16
// and q8_0 say the same.
TEST(parity_ct_punc_realtime, stages_texts_marks_and_cache_equal_the_original) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/punc-realtime";
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
    const auto model = load<funasr::ct_punc_realtime_any>(file.string());
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
    funasr::ct_punc_realtime_any::cache cache;
    std::string joined;
    extent number = 0;
    for (const json& piece : want["pieces"]) {
      auto scope = c.enter("piece", number++);
      const funasr::punctuated_text got = model.punctuate(piece["input"].get<std::string>(), cache, c);
      EXPECT_EQ(got.text, piece["text"].get<std::string>());
      joined += got.text;
      EXPECT_EQ(cache.words, piece["pre_text_after"].get<std::vector<std::string>>());
      std::vector<int> marks;
      for (const json& m : piece["punc_array"]) marks.push_back((m.is_array() ? m[0] : m).get<int>());
      EXPECT_EQ(got.marks, marks);
    }
    EXPECT_EQ(joined, want["joined"].get<std::string>());
    EXPECT_EQ(seen, type == dtype::f32 ? golden.size() : 0u);
    c.trace_to({});
    for (std::size_t i = 0; i < want["pieces"].size(); ++i) {
      funasr::ct_punc_realtime_any::cache none;
      EXPECT_EQ(model.punctuate(want["pieces"][i]["input"].get<std::string>(), none, c).text,
                want["pieces_without_cache"][i].get<std::string>());
    }
  }
}

}  // namespace ct_punc_realtime_test
