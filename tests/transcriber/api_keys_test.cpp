// Keys from a file, and what clients send.
// SPDX-License-Identifier: Apache-2.0
#include "api_keys.hpp"

#include <steno/error.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace api_keys_test {

using steno::app::api_keys;

api_keys from(const std::string& text) {
  const steno::test::temporary_directory dir;
  const std::string path = (dir.path() / "keys").string();
  std::ofstream(path, std::ios::binary) << text;
  return api_keys::read(path);
}

TEST(api_keys, are_compared_as_a_whole) {
  EXPECT_FALSE(api_keys().needed());
  const std::string longest(256, 'x');
  const api_keys k = from("# of the desk\nsk-one-two\r\n\nsk-three-four\t\n" + longest + "\n");
  EXPECT_TRUE(k.needed());
  for (const std::string& right : {std::string("sk-one-two"), std::string("sk-three-four"), longest})
    EXPECT_TRUE(k.allows("Bearer " + right));
  EXPECT_TRUE(k.allows("bearer sk-one-two"));
  for (const std::string& wrong :
       {std::string(), std::string("sk-one-two"), std::string("Bearer "), std::string("Bearer sk-one-tw"),
        std::string("Bearer sk-one-two "), std::string("Bearer sk-one-twoo"), std::string("Basic sk-one-two"),
        std::string("Bearer # of the desk"), std::string("Bearer sk-one-two\0", 18), "Bearer " + longest + "x",
        "Bearer " + std::string(512, 'x'), "Bearer " + longest + longest.substr(0, 1)})
    EXPECT_FALSE(k.allows(wrong)) << wrong;
}

TEST(api_keys, a_file_of_none_is_refused) {
  for (const char* text : {"", "# nothing\n\n", "short\n", "sk-one two\n", "sk-one-\xc3\xa9\n"}) {
    try {
      from(text);
      ADD_FAILURE() << text;
    } catch (const steno::error& e) {
      EXPECT_EQ(std::string(e.what()).find("sk-one"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(api_keys::read("/nowhere/keys"), steno::error);
}

}  // namespace api_keys_test
