// Forms as clients send them, in pieces of every size; and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "multipart.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace multipart_test {

using namespace steno::app;

struct found final : multipart_sink {
  void begin(const multipart_part& p) override { parts.push_back((p.file ? "*" : "") + p.name + "="); }
  void bytes(std::string_view piece) override { parts.back() += piece; }
  void end() override { parts.back() += ";"; }
  std::vector<std::string> parts;
};

std::string all(const std::string& body, std::size_t piece, const multipart_limits& limits = {}) {
  found f;
  multipart_reader r("XyZ", f, limits);
  try {
    for (std::size_t at = 0; at < body.size(); at += piece) r.push(std::string_view(body).substr(at, piece));
    r.finish();
  } catch (const steno::error& e) {
    return e.what();
  }
  std::string text;
  for (const std::string& p : f.parts) text += p;
  return text;
}

const std::string name_a = "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";

TEST(multipart, parts_of_a_form_in_pieces_of_any_size) {
  // As curl, browsers and HTTP libraries write them.
  const std::string body =
      "--XyZ\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\".wav\"\r\n"
      "Content-Type: audio/wav\r\n\r\n\r\n--Xy\r\r\n--XyZ\r\n"
      "content-disposition:form-data;name=model\r\nContent-Length: 1\r\n\r\nw\r\n--XyZ\r\n"
      "Content-Disposition: form-data; filename*=utf-8''x; name=\"t[]\"\r\nContent-Transfer-Encoding: binary\r\n\r\n"
      "\r\n--XyZ--\r\n";
  for (std::size_t piece = 1; piece <= body.size(); ++piece)
    EXPECT_EQ(all(body, piece), "*file=\r\n--Xy\r;model=w;*t[]=;") << piece;
}

TEST(multipart, keeps_no_more_than_a_boundary) {
  found f;
  multipart_reader r("XyZ", f);
  r.push(name_a);
  for (int i = 0; i < 100; ++i) {
    r.push(std::string(65536, '\r'));
    EXPECT_LT(r.waiting(), 16u);
  }
}

TEST(multipart, what_is_not_of_the_form_is_refused) {
  const std::pair<std::string, const char*> table[] = {
      {"", "the body ends before its last boundary"},
      {name_a + "x", "the body ends before its last boundary"},
      {name_a + "x\r\n--XyZ", "the body ends before its last boundary"},
      {name_a + "x\n--XyZ--", "the body ends before its last boundary"},
      {"\r\n" + name_a + "x\r\n--XyZ--", "does not begin with its boundary"},
      {"hello " + name_a, "does not begin with its boundary"},
      {"--XyZ--", "has no parts"},
      {"--XyZ \r\n", "neither a line break nor --"},
      {name_a + "x\r\n--XyZabc", "neither a line break nor --"},
      {name_a + "x\r\n--XyZ--more", "bytes behind the last boundary"},
      {name_a + "x\r\n--XyZ--\r", "bytes behind the last boundary"},
      {"--XyZ\r\nContent-Type: text/plain\r\n\r\nx\r\n--XyZ--", "without a Content-Disposition"},
      {"--XyZ\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XyZ--", "without a name"},
      {"--XyZ\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nx\r\n--XyZ--", "without a name"},
      {"--XyZ\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--XyZ--",
       "without a name, or with several"},
      {"--XyZ\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XyZ--", "is not form-data"},
      {"--XyZ\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--XyZ--", "is not form-data"},
      {"--XyZ\r\nContent-Disposition: form-data; name=a\nX: y\r\n\r\nx\r\n--XyZ--", "control character"},
      {"--XyZ\r\nContent-Disposition : form-data; name=a\r\n\r\nx\r\n--XyZ--", "is not NAME: VALUE"},
      {"--XyZ\r\nContent-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\nx",
       "multipart itself"},
      {"--XyZ\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx",
       "is not binary"},
      {"--XyZ\r\nX: " + std::string(5000, 'y'), "longer than 4096 bytes"},
  };
  for (const auto& [body, want] : table)
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{100000}})
      EXPECT_NE(all(body, piece).find(want), std::string::npos) << body << "\n" << all(body, piece);
  EXPECT_NE(all(name_a + "\r\n" + name_a + "\r\n" + name_a + "\r\n--XyZ--", 9, {.parts = 2}).find("more than 2 parts"),
            std::string::npos);
}

TEST(multipart, boundaries_of_a_content_type) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=----WebKitFormBoundary7MA4"),
            "----WebKitFormBoundary7MA4");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=utf-8; BOUNDARY=\"a b:c\""), "a b:c");
  for (const char* wrong : {"", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a",
                            "application/json", "multipart/form-data; boundary=a; boundary=b",
                            "multipart/form-data; boundary=\"a", "multipart/form-data; boundary=\"a \"",
                            "multipart/form-data; boundary=\"a\r\nb\"", "multipart/form-data boundary=a",
                            "multipart/form-data; boundary="
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    EXPECT_FALSE(multipart_boundary(wrong)) << wrong;
}

}  // namespace multipart_test
