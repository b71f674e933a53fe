// Texts to pieces against SentencePiece itself (tests/golden/parakeet/pieces.json, made by
// make_sentencepiece_split.py).
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/sentencepiece_split.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace sentencepiece_split_test {

using namespace steno;

TEST(sentencepiece_split, equals_the_original_for_both_kinds_of_models) {
  std::ifstream in(test::compact() / "parakeet" / "pieces.json");
  for (const nlohmann::json& m : nlohmann::json::parse(in)) {
    tokenizers::sentencepiece_vocabulary v;
    v.pieces = m["pieces"].get<std::vector<std::string>>();
    v.scores = m["scores"].get<std::vector<float>>();
    v.types = m["types"].get<std::vector<int>>();
    int unwritten = 0;
    for (const auto& t : m["texts"]) {
      const auto want = t[1].get<std::vector<int>>();
      const auto ids = tokenizers::split_pieces(v, t[0].get<std::string>());
      const bool known = std::find(want.begin(), want.end(), 0) == want.end();  // 0: <unk>
      ASSERT_EQ(ids.has_value(), known) << t[0];
      if (known) {
        EXPECT_EQ(*ids, want) << t[0];
      }
      unwritten += known ? 0 : 1;
    }
    EXPECT_GT(unwritten, 0);
  }
}

}  // namespace sentencepiece_split_test
