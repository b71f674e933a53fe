// Messages of WeNet's protocol: every key of the start message is honoured or refused by its name.
// SPDX-License-Identifier: Apache-2.0
#include "wenet_protocol.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wenet_protocol_test {

using namespace steno::app;
using nlohmann::json;

client_signal read(const std::string& text) {
  steno::session_options usual;
  usual.beam = 7;
  usual.hotwords = {"usual"};
  return read_signal(text, usual, 16000);
}
std::string refused(const std::string& key, const std::string& value) {
  return read(R"({"signal": "start", ")" + key + "\": " + value + "}").refused;
}

// `n` letters between two pieces.
std::string text_of(std::size_t n, const std::string& before, const std::string& after) {
  std::string text = before;
  return text.append(n, 'x').append(after);
}

TEST(wenet_protocol, a_start_message_is_understood) {
  const client_signal bare = read(R"({"signal": "start"})");
  EXPECT_EQ(bare.refused, "");
  EXPECT_TRUE(bare.start);
  EXPECT_EQ(bare.nbest, 1u);
  EXPECT_FALSE(bare.live.continuous);
  EXPECT_EQ(bare.live.beam, 7);
  EXPECT_EQ(bare.live.hotwords, std::vector<steno::core::hotword>{"usual"});
  const client_signal full = read(R"({"signal": "start", "nbest": 5, "continuous_decoding": true, "sample_rate": 16000,
                                      "language": "auto", "hotwords": ["a b", "c"]})");
  EXPECT_EQ(full.refused, "");
  EXPECT_EQ(full.nbest, 5u);
  EXPECT_TRUE(full.live.continuous);
  EXPECT_EQ(full.live.hotwords, (std::vector<steno::core::hotword>{"a b", "c"}));
  EXPECT_EQ(full.live.language, "auto");
  EXPECT_EQ(read(R"({"signal": "start", "hotwords": ["a b\t2"]})").live.hotwords,
            (std::vector<steno::core::hotword>{{"a b", 2}}));
  EXPECT_EQ(read(R"({"signal": "start", "language": "de"})").live.language, "de");  // the model has the last word
  EXPECT_EQ(bare.model, "");
  EXPECT_EQ(read(R"({"signal": "start", "model": "other"})").model, "other");
  // Another model may take what this one does not.
  EXPECT_EQ(read(R"({"signal": "start", "sample_rate": 8000, "model": "other"})").model, "other");
  EXPECT_FALSE(read(R"({"signal": "end"})").start);
  EXPECT_EQ(read(R"({"signal": "end"})").refused, "");
}

TEST(wenet_protocol, a_key_that_is_not_honoured_is_refused_by_name) {
  const std::pair<std::pair<const char*, const char*>, const char*> table[] = {
      {{"sample_rate", "8000"}, "sample_rate 8000: this model takes 16000 samples a second"},
      {{"sample_rate", "\"16000\""}, "sample_rate \"16000\": this model takes 16000 samples a second"},
      {{"language", "[\"de\"]"}, "language [...]: expected the name of a language, or \"auto\""},
      {{"model", "3"}, "model 3: expected the name of a model"},
      {{"model", "\"\""}, "model \"\": expected the name of a model"},
      {{"language", "null"}, "language null: expected the name of a language, or \"auto\""},
      {{"hotwords", "\"a\""}, "array of strings is expected for hotwords option"},
      {{"hotwords", "[1]"}, "array of strings is expected for hotwords option"},
      {{"hotwords", "[\"a\\tx\"]"},
       "hotwords: weight of a hotword: expected phrase<TAB>weight, a number from 0.01 to 100, found a\\x09x"},
      {{"nbest", "0"}, "integer is expected for nbest option"},
      {{"nbest", "1001"}, "integer is expected for nbest option"},
      {{"nbest", "1.5"}, "integer is expected for nbest option"},
      {{"continuous_decoding", "\"true\""}, "boolean true or false is expected for continuous_decoding option"}};
  for (const auto& [key, want] : table) EXPECT_EQ(refused(key.first, key.second), want);
  for (const char* key : {"itn", "chunk_size", "Nbest", "", "sample rate"})
    EXPECT_EQ(refused(key, "1").find("unknown key \"" + std::string(key) + "\" in the start message"), 0u) << key;
}

TEST(wenet_protocol, a_client_cannot_ask_for_much) {
  std::string list = "[\"x\"";
  for (int i = 0; i < 100; ++i) list += ",\"x\"";
  EXPECT_NE(refused("hotwords", list + "]").find("at most 100 phrases"), std::string::npos);
  EXPECT_NE(refused("hotwords", text_of(5000, "[\"", "\"]")).find("4096 bytes"), std::string::npos);
  EXPECT_EQ(read(text_of(70000, R"({"signal": "start", "x": ")", "\"}")).refused, "Wrong protocol");
  EXPECT_EQ(read(std::string(60000, '[')).refused, "Wrong protocol");
  EXPECT_LT(refused(std::string(50000, 'k'), "1").size(), 300u);
  EXPECT_LT(refused("language", text_of(50000, "\"", "\"")).size(), 300u);
  for (const char* key : {"deep", "language", "sample_rate", "hotwords", "nbest", "continuous_decoding"})
    EXPECT_NE(refused(key, std::string(20000, '[') + std::string(20000, ']')), "");
}

TEST(wenet_protocol, results_say_what_ended_them) {
  steno::session_event e;
  e.nbest = {{"one", 0, {{"o", 0, 40}}}, {"two", 0, {}}};
  json partial = json::parse(result_message(e, 1));
  EXPECT_EQ(partial, (json{{"status", "ok"}, {"type", "partial_result"}, {"nbest", R"([{"sentence":"one"}])"}}));
  e.kind = steno::streaming::stream_event_kind::final;
  json final = json::parse(result_message(e, 5));
  EXPECT_EQ(final["type"], "final_result");
  EXPECT_FALSE(final.contains("endpoint"));
  EXPECT_EQ(json::parse(final["nbest"].get<std::string>()).size(), 2u);
  e.nbest[0].text = "A \u00c4 z";  // ASCII alone becomes small, and for WeNet's own models
  const auto sentence = [&](bool small) {
    const json all = json::parse(json::parse(result_message(e, 1, small))["nbest"].get<std::string>());
    return all[0]["sentence"].get<std::string>();
  };
  EXPECT_EQ(sentence(false), "A \u00c4 z");
  EXPECT_EQ(sentence(true), "a \u00c4 z");
  e.endpoint = steno::endpoint_kind::end_of_turn;
  EXPECT_EQ(json::parse(result_message(e, 1))["endpoint"], "end_of_turn");
  EXPECT_EQ(json::parse(speech_end_message(e.endpoint)),
            (json{{"status", "ok"}, {"type", "speech_end"}, {"endpoint", "end_of_turn"}}));
  EXPECT_EQ(json::parse(speech_end_message(steno::endpoint_kind::none)),
            (json{{"status", "ok"}, {"type", "speech_end"}}));
}

}  // namespace wenet_protocol_test
