// am.mvn: blocks are chosen by their component and length.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/am_mvn.hpp"

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace am_mvn_test {

using steno::funasr_files::parse_am_mvn;

std::string refusal(std::string_view text) {
  return steno::test::error_of([&] { parse_am_mvn(text, "am.mvn"); });
}
constexpr std::string_view good =
    "<Nnet> \n<Splice> 3 3\n[ 0 ]\n<AddShift> 3 3 \n<LearnRateCoef> 0 [ -8.5 -1e-2 3 ]\n"
    "<Rescale> 3 3\n<LearnRateCoef> 0 [ 0.5 0.25 2 ]\n</Nnet> \n";

TEST(am_mvn, takes_the_blocks_of_addshift_and_rescale) {
  const auto m = parse_am_mvn(good, "am.mvn");
  EXPECT_EQ(m.shift, (std::vector<float>{-8.5f, -1e-2f, 3}));
  EXPECT_EQ(m.scale, (std::vector<float>{0.5f, 0.25f, 2}));
}

TEST(am_mvn, no_splice_and_no_blanks_around_brackets) {
  const auto m = parse_am_mvn("<Rescale> 1 1 <LearnRateCoef> 0 [2]\r\n<AddShift> 1 1 [7]", "am.mvn");
  EXPECT_EQ(m.shift, std::vector<float>{7});
  EXPECT_EQ(m.scale, std::vector<float>{2});
}

TEST(am_mvn, hostile_input) {
  EXPECT_NE(refusal("").find("no <AddShift>"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 2 2 [ 1 2 ]").find("no <Rescale>"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 2 2 [ 1 2").find("does not end"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 2 2 [ 1 x ]")
                .find("line 1: element 1 of the block of <AddShift>: expected a finite number, found \"x\""),
            std::string::npos);
  EXPECT_NE(refusal("<AddShift> 2 2 [\n1 nan ]").find("line 2: element 1"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 2 2 [ 1 [ 2 ]").find("a finite number"), std::string::npos);
  EXPECT_EQ(refusal("<AddShift> 3 3 [ 1 2 ]"), "am.mvn: length of the block of <AddShift>: expected 3, found 2");
  EXPECT_NE(refusal("<AddShift> 0 0 [ ]").find("expected 0, found 0"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> -1 [ 1 ]").find("no size"), std::string::npos);
  EXPECT_NE(refusal("<AddShift>").find("no size"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 1 1 [ 1 ] <AddShift> 1 1 [ 1 ]").find("occurs twice"), std::string::npos);
  EXPECT_NE(refusal("<AddShift> 1 1 [ 1 ] <Rescale> 2 2 [ 1 2 ]").find("length of <Rescale>"), std::string::npos);
  std::string endless = "<AddShift> 99999999 1 [";
  for (int i = 0; i < 20000; ++i) endless += " 1";
  EXPECT_NE(refusal(endless).find("too long"), std::string::npos);
  for (std::size_t n = 0; n < good.size() - 12; ++n) refusal(good.substr(0, n));  // every cut throws
}

TEST(am_mvn, published_file) {
  STENO_REQUIRE_SHARED(shared);
  const auto m = steno::funasr_files::read_am_mvn((shared / "assets" / "funasr" / "am.mvn").string());
  ASSERT_EQ(m.shift.size(), 560u);
  ASSERT_EQ(m.scale.size(), 560u);
  EXPECT_FLOAT_EQ(m.shift[0], -8.311879f);
  EXPECT_FLOAT_EQ(m.scale[0], 0.155775f);
}

}  // namespace am_mvn_test
