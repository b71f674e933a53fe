// SPDX-License-Identifier: Apache-2.0
#include "realtime_audio.hpp"

#include "flat_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace realtime_audio_test {
namespace {

using namespace steno::app;

std::string decoded(const std::string& text) {
  std::vector<unsigned char> out;
  return decode_base64(text, out) ? std::string(out.begin(), out.end()) : "refused";
}
std::vector<float> resampled(const std::vector<unsigned char>& bytes, audio_kind kind, std::size_t portion) {
  coded_audio a(kind, 16000);
  std::vector<float> out;
  for (std::size_t at = 0; at < bytes.size(); at += portion)
    a.push(std::span(bytes).subspan(at, std::min(portion, bytes.size() - at)), out);
  a.finish(out);
  return out;
}

}  // namespace

TEST(realtime_audio, base64) {
  EXPECT_EQ(decoded(""), "");
  EXPECT_EQ(decoded("Zg=="), "f");
  EXPECT_EQ(decoded("Zg"), "f");
  EXPECT_EQ(decoded("Zm8="), "fo");
  EXPECT_EQ(decoded("Zm9v"), "foo");
  EXPECT_EQ(decoded("Zm9vYg=="), "foob");
  for (const char* wrong : {"Z", "Zg=", "Z===", "====", "Zm9v=", "Zm 9", "Zm-_", "Zh==", "Zm9\n"})
    EXPECT_EQ(decoded(wrong), "refused") << wrong;
}

TEST(realtime_audio, g711_as_its_table_has_it) {
  const auto mu = [](int code) { return std::lround(mu_law_sample(static_cast<unsigned char>(code)) * 32768.0f); };
  const auto a = [](int code) { return std::lround(a_law_sample(static_cast<unsigned char>(code)) * 32768.0f); };
  EXPECT_EQ(mu(0x00), -32124);
  EXPECT_EQ(mu(0x80), 32124);
  EXPECT_EQ(mu(0xff), 0);
  EXPECT_EQ(mu(0x7f), 0);
  EXPECT_EQ(mu(0xf0), 120);
  EXPECT_EQ(mu(0x8f), 16764);
  EXPECT_EQ(a(0xd5), 8);
  EXPECT_EQ(a(0x55), -8);
  EXPECT_EQ(a(0x2a), -32256);
  EXPECT_EQ(a(0xaa), 32256);
  EXPECT_EQ(a(0x85), 4224);
}

TEST(realtime_audio, portions_make_no_difference) {
  std::vector<unsigned char> bytes;
  for (int i = 0; i < 100001; ++i) bytes.push_back(static_cast<unsigned char>((i * 7919) >> 3 & 0xff));
  for (const audio_kind kind : {audio_kind{audio_kind::coding::pcm, 24000}, audio_kind{audio_kind::coding::pcm, 16000},
                                audio_kind{audio_kind::coding::mu_law, 8000}}) {
    const auto whole = resampled(bytes, kind, bytes.size());
    EXPECT_NEAR(static_cast<double>(whole.size()),
                100001.0 / (kind.how == audio_kind::coding::pcm ? 2 : 1) * 16000 / kind.rate, 2);
    for (const std::size_t portion : {1u, 333u, 4801u}) EXPECT_EQ(resampled(bytes, kind, portion), whole);
  }
}

TEST(flat_json, values_with_their_paths) {
  const flat_json j = read_flat_json(R"({"a":{"b":[1,"x",{"c":null}],"d":{}},"e":true})");
  EXPECT_EQ(j.wrong, "");
  std::string paths;
  for (const flat_value& v : j.values) paths += v.path + " ";
  EXPECT_EQ(paths, "a a.b a.b[] a.b[] a.b[] a.b[].c a.d e ");
  EXPECT_EQ(j.find("a.b[]")->number, 1);
  EXPECT_TRUE(j.find("e")->yes);
  EXPECT_EQ(j.find("a.d")->what, flat_value::kind::object);
  EXPECT_EQ(j.find("f"), nullptr);
}

TEST(flat_json, what_it_is_not) {
  for (const char* wrong : {"", "[]", "1", "{", "{\"a\":1,\"a\":2}", "{}x", "{\"a\":\"\xff\"}"})
    EXPECT_NE(read_flat_json(wrong).wrong, "") << wrong;
  std::string deep = "{\"a\":", many = "{\"a\":[0";
  for (int i = 0; i < 100; ++i) deep += "[";
  for (int i = 0; i < 200; ++i) many += ",0";
  EXPECT_NE(read_flat_json(deep).wrong, "");
  EXPECT_NE(read_flat_json(many + "]}").wrong, "");
  EXPECT_NE(read_flat_json("{\"" + std::string(65, 'k') + "\":0}").wrong, "");
  EXPECT_EQ(read_flat_json("{}").wrong, "");
}

}  // namespace realtime_audio_test
