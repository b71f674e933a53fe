// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/unicode_nfc.hpp>

#include <gtest/gtest.h>

namespace unicode_nfc_test {

using namespace steno;

TEST(unicode_nfc, composes_reorders_and_leaves_alone) {
  EXPECT_EQ(tokenizers::unicode::nfc("plain text"), "plain text");
  EXPECT_EQ(tokenizers::unicode::nfc("e\xcc\x81"), "\xc3\xa9");              // e and acute
  EXPECT_EQ(tokenizers::unicode::nfc("e\xcc\xa3\xcc\x82"), "\xe1\xbb\x87");  // dot below, circumflex: both compose
  EXPECT_EQ(tokenizers::unicode::nfc("e\xcc\x82\xcc\xa3"), "\xe1\xbb\x87");  // in the other order, too
  EXPECT_EQ(tokenizers::unicode::nfc("\xe2\x84\xab"), "\xc3\x85");           // angstrom sign
  EXPECT_EQ(tokenizers::unicode::nfc("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"), "\xed\x95\x9c");  // three jamo
  EXPECT_EQ(tokenizers::unicode::nfc("\xed\x95\x9c"), "\xed\x95\x9c");
  EXPECT_EQ(tokenizers::unicode::nfc("\xe0\xa5\x98"), "\xe0\xa4\x95\xe0\xa4\xbc");  // excluded from composition
  EXPECT_EQ(tokenizers::unicode::nfc("\xcc\x81x"), "\xcc\x81x");                    // nothing before the mark
  EXPECT_EQ(tokenizers::unicode::nfc("a\xcc\x95\xcc\x80\xcc\x95"),
            "\xc3\xa0\xcc\x95\xcc\x95");                                  // marks between keep classes apart
  EXPECT_EQ(tokenizers::unicode::nfc("e\xff\xcc\x81"), "e\xff\xcc\x81");  // what is not UTF-8 separates
}

}  // namespace unicode_nfc_test
