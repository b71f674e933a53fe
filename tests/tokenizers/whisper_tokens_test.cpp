// Whisper's tokenizer on texts that the original encoded and decoded (the full golden set).
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/whisper_tokens.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

#include "support/golden.hpp"

namespace whisper_tokens_test {

using namespace steno;
using nlohmann::json;

std::string base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    held = held << 6 | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

/// The text tokens of a tiktoken table in GPT-2's letters.
std::vector<std::string> table(const std::filesystem::path& path) {
  std::vector<std::string> letters;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::string token;
    for (const char ch : base64(line.substr(0, line.find(' ')))) {
      const unsigned b = static_cast<unsigned char>(ch);
      const bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      const unsigned c = printable ? b : b <= 0x20 ? 0x100 + b : b <= 0xa0 ? 0x121 + b - 0x7f : 0x143;
      if (c < 0x80) {
        token += static_cast<char>(c);
      } else {
        token += static_cast<char>(0xc0 | c >> 6);
        token += static_cast<char>(0x80 | (c & 0x3f));
      }
    }
    letters.push_back(token);
  }
  return letters;
}

TEST(whisper_tokens, all_published_vocabularies) {
  STENO_REQUIRE_SHARED(shared);
  std::ifstream in(shared / "assets/whisper/tokenizer-cases.json");
  const json all = json::parse(in);
  for (const auto& [name, want] : all.items()) {
    SCOPED_TRACE(name);
    const bool english = name.starts_with("gpt2");
    const tokenizers::whisper_tokens t(
        table(shared / "assets/whisper" / (english ? "gpt2.tiktoken" : "multilingual.tiktoken")),
        want["n_vocab"].get<extent>());
    const std::map<std::string, int> ids = {{"eot", t.eot},
                                            {"sot", t.sot},
                                            {"translate", t.translate},
                                            {"transcribe", t.transcribe},
                                            {"sot_lm", t.sot_lm},
                                            {"sot_prev", t.sot_prev},
                                            {"no_speech", t.no_speech},
                                            {"no_timestamps", t.no_timestamps},
                                            {"timestamp_begin", t.timestamp_begin}};
    for (const auto& [key, id] : ids) EXPECT_EQ(id, want[key].get<int>()) << key;
    const auto languages = want["languages"].get<std::vector<std::string>>();
    ASSERT_EQ(static_cast<std::size_t>(t.languages), languages.size());
    for (std::size_t i = 0; i < languages.size(); ++i) EXPECT_EQ(t.code(static_cast<int>(i)), languages[i]);
    EXPECT_EQ(t.non_speech_tokens(), want["non_speech_tokens"].get<std::vector<int>>());
    for (const json& c : want["cases"]) {
      const auto encoded = t.encode(c["text"].get<std::string>());
      EXPECT_EQ(encoded, c["ids"].get<std::vector<int>>()) << c["text"];
      EXPECT_EQ(t.text_of(encoded), c["text"].get<std::string>());
    }
    for (const json& c : want["decode_partial"])
      EXPECT_EQ(t.text_of(c["ids"].get<std::vector<int>>()), c["text"].get<std::string>()) << c;
    const json& timed = want["decode_with_timestamps"];
    EXPECT_EQ(t.decode_with_timestamps(timed["ids"].get<std::vector<int>>()), timed["text"].get<std::string>());
  }
}

TEST(whisper_tokens, languages_by_code_and_name) {
  EXPECT_EQ(tokenizers::find_whisper_language("en"), 0);
  EXPECT_EQ(tokenizers::find_whisper_language("chinese"), 1);
  EXPECT_EQ(tokenizers::find_whisper_language("mandarin"), 1);
  EXPECT_EQ(tokenizers::find_whisper_language("yue"), 99);
  EXPECT_EQ(tokenizers::find_whisper_language("klingon"), -1);
}

TEST(whisper_tokens, a_vocabulary_of_another_size_is_refused) {
  const std::vector<std::string> letters(10, "a");
  EXPECT_THROW(tokenizers::whisper_tokens(letters, 11), error);
  EXPECT_THROW(tokenizers::whisper_tokens(letters, 10 + 8 + 1501 + 101), error);
  EXPECT_EQ(tokenizers::whisper_tokens(letters, 10 + 8 + 1501 + 3).languages, 3);
}

TEST(whisper_tokens, a_small_vocabulary_may_be_told_language_and_task) {
  const std::vector<std::string> letters(10, "a");
  const extent all = 10 + 8 + 1501 + 1;
  EXPECT_EQ(tokenizers::whisper_tokens(letters, all).start(0, false), (std::vector<int>{11}));
  EXPECT_EQ(tokenizers::whisper_tokens(letters, all, false).start(0, true), (std::vector<int>{11}));
  EXPECT_EQ(tokenizers::whisper_tokens(letters, all, true).start(0, false), (std::vector<int>{11, 12, 14}));
  EXPECT_EQ(tokenizers::whisper_tokens(letters, all, true).start(0, true), (std::vector<int>{11, 12, 13}));
  EXPECT_EQ(tokenizers::whisper_tokens(letters, all, true).special(18), "<|notimestamps|>");
}

TEST(whisper_tokens, phrases_stand_within_a_text) {
  // Bytes, and a few words.
  std::vector<std::string> letters;
  for (const char c : std::string("abcdefghijklmnopqrstuvwxyzN")) letters.emplace_back(1, c);
  letters.insert(letters.end(), {"\xc4\xa0", "\xc4\xa0v", "\xc4\xa0vi", "\xc4\xa0vie", "\xc4\xa0vien"});
  for (const char* byte : {"\xc3\xa5", "\xc4\xae", "\xc4\xb9", "\xc3\xac"}) letters.emplace_back(byte);
  const auto size = static_cast<extent>(letters.size());
  const tokenizers::whisper_tokens t(letters, size + 8 + tokenizers::whisper_tokens::timestamps + 1);
  EXPECT_EQ(t.decode(*t.split("vienna")), " vienna");
  EXPECT_EQ(t.split("vienna")->front(), 31);
  EXPECT_EQ(t.split("  vienna "), t.split("vienna"));
  EXPECT_EQ(t.decode(*t.split("Nan vie")), " Nan vie");
  EXPECT_EQ(t.decode(*t.split("\xe5\x8c\x97")), "\xe5\x8c\x97");  // a Chinese character: no space before it
  EXPECT_EQ(t.decode(t.split("\xec\x8c\x97").value_or(std::vector<int>{})), " \xec\x8c\x97");  // a Korean one
  EXPECT_TRUE(t.split(" ")->empty());
  EXPECT_EQ(t.split("Vienna"), std::nullopt);  // there is no V
}

}  // namespace whisper_tokens_test
