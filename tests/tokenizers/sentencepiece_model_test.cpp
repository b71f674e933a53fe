// A SentencePiece model against SentencePiece's own view of it (fixtures/pieces.json).
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/sentencepiece_model.hpp>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace sentencepiece_model_test {

using steno::test::fixture;
using steno::tokenizers::read_sentencepiece_model;

steno::tokenizers::sentencepiece_vocabulary parse(std::string_view text) {
  return read_sentencepiece_model(steno::test::bytes_of(text), "x.model");
}

TEST(sentencepiece_model, pieces_and_settings) {
  const nlohmann::json expected = steno::test::read_json(fixture("pieces.json"));
  const auto v = parse(steno::test::read_text(fixture("pieces.model")));
  ASSERT_EQ(v.pieces.size(), expected.size());
  ASSERT_EQ(v.scores.size(), expected.size());
  ASSERT_EQ(v.types.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(v.pieces[i], expected[i][0].get<std::string>());
    EXPECT_EQ(v.scores[i], expected[i][1].get<float>());
    EXPECT_EQ(v.types[i], expected[i][2].get<int>()) << v.pieces[i];
  }
  EXPECT_FALSE(v.add_dummy_prefix);
  EXPECT_FALSE(v.remove_extra_whitespaces);
  EXPECT_EQ(v.unk_surface, " ?? ");
}

TEST(sentencepiece_model, defaults) {
  const auto v =
      parse(std::string_view("\x0a\x07\x0a\x03<u>\x18\x02\x0a\x03\x0a\x01"
                             "a",
                             14));
  EXPECT_EQ(v.pieces, (std::vector<std::string>{"<u>", "a"}));
  EXPECT_EQ(v.types, (std::vector<int>{2, 1}));
  EXPECT_EQ(v.scores, (std::vector<float>{0, 0}));
  EXPECT_TRUE(v.add_dummy_prefix);
  EXPECT_TRUE(v.remove_extra_whitespaces);
  EXPECT_EQ(v.unk_surface, " \xE2\x81\x87 ");
}

TEST(sentencepiece_model, hostile_input) {
  const auto refusal = [](std::string_view text) { return steno::test::error_of([&] { parse(text); }); };
  EXPECT_NE(refusal("").find("no pieces"), std::string::npos);
  EXPECT_NE(refusal("version https://git-lfs").find("not a SentencePiece model"), std::string::npos);
  EXPECT_NE(refusal("\x0a\x7f"
                    "a")
                .find("longer than the file"),
            std::string::npos);
  EXPECT_NE(refusal("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f").find("longer than the file"), std::string::npos);
  EXPECT_NE(refusal("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f").find("too long"), std::string::npos);
  EXPECT_NE(refusal("\x0a\x80").find("cut short"), std::string::npos);
  EXPECT_NE(refusal("\x0b").find("wire type"), std::string::npos);
  EXPECT_NE(refusal(std::string_view("\0", 1)).find("no valid number"), std::string::npos);
  EXPECT_NE(refusal(std::string_view("\x0a\x02\x0a\0", 4)).find("piece 0 is empty"), std::string::npos);
  EXPECT_NE(refusal("\x0a\x05\x0a\x01"
                    "a\x18\x07")
                .find("piece 0 has an unknown type: found 7"),
            std::string::npos);
  EXPECT_NE(refusal("\x0a\x03\x0a\x01"
                    "a")
                .find("number of unknown pieces: expected 1, found 0"),
            std::string::npos);
  const std::string whole = steno::test::read_text(fixture("pieces.model"));
  for (std::size_t i = 0; i < whole.size(); ++i) {  // every changed byte parses or throws
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xff);
    try {
      parse(changed);
    } catch (const steno::error&) {
    }
  }
}

TEST(sentencepiece_model, golden_sense_voice) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden" / "funasr" / "sensevoice" / "checkpoint";
  const auto v = parse(steno::test::read_text(folder / "chn_jpn_yue_eng_ko_spectok.bpe.model"));
  const nlohmann::json tokens = steno::test::read_json(folder / "tokens.json");
  EXPECT_EQ(v.pieces, tokens.get<std::vector<std::string>>());
  EXPECT_FALSE(v.add_dummy_prefix);
  EXPECT_FALSE(v.remove_extra_whitespaces);
}

}  // namespace sentencepiece_model_test
