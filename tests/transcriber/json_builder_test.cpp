// SPDX-License-Identifier: Apache-2.0
#include "json_builder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json_result.hpp"

namespace json_builder_test {

using namespace steno;
using namespace steno::app;

TEST(json_builder, commas_stand_where_they_belong) {
  json_builder j;
  j.open('{').key("a").open('[').close(']').key("b").open('[').whole(1).open('{').close('}').none().close(']');
  j.key("c").open('{').key("d").text("e").close('}').key("f").raw("[2]").key("g").wholes(std::vector<int>{3, -4});
  EXPECT_EQ(j.close('}').str(), R"({"a":[],"b":[1,{},null],"c":{"d":"e"},"f":[2],"g":[3,-4]})");
}

TEST(json_builder, numbers_and_texts_are_json) {
  json_builder j;
  j.open('[').number(1.23456).number(0.1 + 0.2).number(3).number(-0.0004).number(1e300);
  j.number(std::nan("")).number(std::numeric_limits<double>::infinity());
  j.text(
       "a\"\\\n\x01"
       "b")
      .text("\xff\xc3")
      .close(']');
  const auto read = nlohmann::json::parse(j.str());
  EXPECT_EQ(read[0], 1.235);
  EXPECT_EQ(read[1], 0.3);
  EXPECT_EQ(read[2], 3.0);
  EXPECT_EQ(read[4], 1e300);
  EXPECT_TRUE(read[5].is_null() && read[6].is_null());
  EXPECT_EQ(read[7],
            "a\"\\\n\x01"
            "b");
  EXPECT_EQ(read[8], "\xef\xbf\xbd\xef\xbf\xbd");
}

// Its languages are known at the end, its segments are written before.
TEST(json_document, segments_name_another_language) {
  const auto heard = [](const char* language, bool extra) {
    segment s;
    s.text = language;
    s.language = language;
    if (extra) s.extra = {{"x", 1.0}};
    return s;
  };
  json_document d;
  for (const bool extra : {false, true})
    for (const char* language : {"en", "de", ""}) d.add(heard(language, extra));
  result head;
  head.language = "en";
  head.extra = {{"interrupted_at", 2.5}};
  const auto read = nlohmann::json::parse(d.end("x.wav", head));
  EXPECT_EQ(read["text"], "en de en de");
  EXPECT_EQ(read["extra"]["interrupted_at"], 2.5);
  ASSERT_EQ(read["segments"].size(), 6u);
  const auto extra = [&](std::size_t i) { return read["segments"][i].value("extra", nlohmann::json()).dump(); };
  EXPECT_EQ(extra(0), "null");
  EXPECT_EQ(extra(1), R"({"language":"de"})");
  EXPECT_EQ(extra(2), "null");
  EXPECT_EQ(extra(3), R"({"x":1.0})");
  EXPECT_EQ(extra(4), R"({"language":"de","x":1.0})");
  EXPECT_EQ(extra(5), R"({"x":1.0})");
}

}  // namespace json_builder_test
