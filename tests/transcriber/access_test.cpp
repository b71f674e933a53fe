// Which requests a server on this machine takes from browsers.
// SPDX-License-Identifier: Apache-2.0
#include "access.hpp"

#include <gtest/gtest.h>

namespace access_test {

using namespace steno::app;

request_facts from(std::string origin, std::string host = "127.0.0.1:10086") {
  return {
      .origins = {std::move(origin)}, .hosts = {std::move(host)}, .local_address = "127.0.0.1", .local_port = 10086};
}
bool taken(const request_facts& request, const std::vector<std::string>& allowed = {}, std::string host = "127.0.0.1") {
  access_rules rules{.host = std::move(host), .allowed = {}, .any = false};
  for (const std::string& text : allowed) EXPECT_TRUE(allow_origin(rules, text)) << text;
  return refusal(rules, request).empty();
}

TEST(access, authorities) {
  EXPECT_EQ(parse_authority("Example.ORG:80"), (authority{"example.org", 80}));
  EXPECT_EQ(parse_authority("example.org."), (authority{"example.org", {}}));
  EXPECT_EQ(parse_authority("[0:0::1]:8080"), (authority{"::1", 8080}));
  EXPECT_EQ(parse_authority("[::ffff:127.0.0.1]"), (authority{"127.0.0.1", {}}));
  for (const char* wrong : {"", ":80", "a:", "a:b", "a:-1", "a:65536", "a:80x", "a b", "u@a", "[::1", "[::1]80", "[a]",
                            "::1", "a/b", "a\n", "."})
    EXPECT_FALSE(parse_authority(wrong)) << wrong;
}

TEST(access, origins) {
  EXPECT_EQ(parse_origin("HTTPS://Example.org"), (origin{"https", {"example.org", 443}}));
  EXPECT_EQ(parse_origin("http://[::1]:3000"), (origin{"http", {"::1", 3000}}));
  for (const char* wrong : {"", "null", "http://", "://a", "http:/a", "http://a/", "http://u:p@a", "a b://c", "*"})
    EXPECT_FALSE(parse_origin(wrong)) << wrong;
}

TEST(access, who_is_no_web_page_has_no_origin) {
  request_facts program = from("");
  program.origins.clear();
  EXPECT_TRUE(taken(program));
  program.hosts.clear();
  EXPECT_TRUE(taken(program));
}

TEST(access, the_servers_own_pages_are_taken_and_no_others) {
  for (const char* own : {"http://127.0.0.1:10086", "http://localhost:10086", "HTTP://LocalHost:10086",
                          "http://[::1]:10086", "https://127.0.0.1:10086", "http://127.1.2.3:10086"})
    EXPECT_TRUE(taken(from(own))) << own;
  for (const char* other :
       {"http://evil.example", "http://evil.example:10086", "http://localhost", "http://localhost:8000", "null", "",
        "http://localhost.evil.example:10086", "http://127.0.0.1.evil.example:10086", "file://", "garbage",
        "chrome-extension://localhost", "http://127.0.0.1:10086/", "http://0x7f000001:10086"})
    EXPECT_FALSE(taken(from(other))) << other;
  request_facts two = from("http://localhost:10086");
  two.origins.push_back("http://evil.example");
  EXPECT_FALSE(taken(two));
}

TEST(access, the_default_port_of_a_scheme_is_a_port) {
  request_facts request = from("http://localhost", "localhost");
  request.local_port = 80;
  EXPECT_TRUE(taken(request));
  request.origins = {"https://localhost"};
  EXPECT_FALSE(taken(request));
}

TEST(access, what_is_allowed_is_taken) {
  EXPECT_TRUE(taken(from("https://asr.example"), {"http://b.example:1", "https://asr.example:443"}));
  EXPECT_FALSE(taken(from("http://asr.example"), {"https://asr.example"}));
  EXPECT_FALSE(taken(from("https://asr.example:444"), {"https://asr.example"}));
  EXPECT_TRUE(taken(from("https://evil.example", "evil.example"), {"*"}));
  access_rules rules;
  for (const char* wrong : {"", "asr.example", "https://", "https://a/b", "**"})
    EXPECT_FALSE(allow_origin(rules, wrong)) << wrong;
}

// A page of evil.example whose name was given the address 127.0.0.1 sends no Origin with a plain request.
TEST(access, a_name_that_only_points_here_is_not_the_servers) {
  request_facts request = from("");
  request.origins.clear();
  for (const char* name : {"localhost", "LOCALHOST:10086", "127.0.0.1", "[::1]:10086", "127.0.0.1:9999"}) {
    request.hosts = {name};
    EXPECT_TRUE(taken(request)) << name;
  }
  for (const char* name : {"evil.example", "evil.example:10086", "localhost.evil.example", "", "[", "10.0.0.1"}) {
    request.hosts = {name};
    EXPECT_FALSE(taken(request)) << name;
  }
  request.hosts = {"asr.example"};
  EXPECT_TRUE(taken(request, {"https://asr.example"}));
  EXPECT_TRUE(taken(request, {}, "ASR.example"));
  request.hosts = {"localhost", "evil.example"};
  EXPECT_FALSE(taken(request));
}

TEST(access, other_addresses_of_the_server) {
  request_facts request = from("http://192.0.2.7:10086", "anything.example");
  request.local_address = "192.0.2.7";
  EXPECT_TRUE(taken(request, {}, "0.0.0.0"));
  request.origins = {"http://localhost:10086"};
  EXPECT_FALSE(taken(request, {}, "0.0.0.0"));
}

TEST(access, a_refusal_says_what_was_refused) {
  EXPECT_EQ(refusal({.host = "127.0.0.1", .allowed = {}, .any = false}, from("http://evil.example")),
            "origin \"http://evil.example\" is not allowed (see --allow-origin)");
  EXPECT_LT(refusal({}, from(std::string(5000, 'a'))).size(), 200u);
}

}  // namespace access_test
