// The format of each tensor: what replaces formats whose blocks do not fit, exceptions by name, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "number_formats.hpp"

#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "near_names.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace number_formats_test {

using namespace steno;

imported_tensor matrix(std::string name, extent cols) {
  return {.name = std::move(name), .shape = {4, cols}, .product = true};
}
imported_model model() {
  imported_model m;
  m.where = "m.pt";
  m.tensors = {matrix("encoder.layers.0.linear_v.weight", 256),
               matrix("encoder.layers.0.w_2.weight", 256),
               matrix("encoder.layers.1.w_2.weight", 288),
               matrix("encoder.in.weight", 80),
               {.name = "encoder.layers.0.norm.weight", .shape = {256}},
               matrix("ctc.ctc_lo.weight", 256)};
  return m;
}

TEST(number_formats, what_replaces_a_format_whose_blocks_do_not_fit) {
  for (const auto& [wanted, simple] :
       {std::pair(dtype::q4_k, dtype::q5_0), std::pair(dtype::q5_k, dtype::q5_1), std::pair(dtype::q6_k, dtype::q8_0),
        std::pair(dtype::q8_128, dtype::q8_0), std::pair(dtype::q4_1, dtype::q4_1)}) {
    EXPECT_EQ(packaged_format(matrix("m", 512), wanted), wanted);
    EXPECT_EQ(packaged_format(matrix("m", 96), wanted), simple);
    EXPECT_EQ(packaged_format(matrix("m", 80), wanted), dtype::f16);
  }
}

TEST(number_formats, names_of_types) {
  for (const std::string& name : type_names()) {
    const format_choice c = parse_type(name);
    EXPECT_TRUE(c.type && weights::can_quantise(*c.type)) << name;
    EXPECT_EQ(c.mix, name.ends_with("_m")) << name;
  }
  EXPECT_NE(test::refusal([] { (void)parse_type("q2_k"); }).find("\"q2_k\" cannot be written: expected one of f32, "),
            std::string::npos);
  const type_of t = parse_type_of("a=b*=q8_0");
  EXPECT_EQ(t.glob, "a=b*");
  EXPECT_EQ(t.type, dtype::q8_0);
  for (const char* bad : {"q8_0", "=q8_0", "x=", "x=q9", "x=q4_k_m"})
    EXPECT_NE(test::refusal([&] { (void)parse_type_of(bad); }), "") << bad;
}

TEST(number_formats, a_mix_and_exceptions) {
  const imported_model m = model();
  using list = std::vector<dtype>;
  // Two layers: those from 7 * 2 / 8 = 1 on have more bits.
  EXPECT_EQ(packaged_formats(m, parse_type("q4_k_m")),
            (list{dtype::q4_k, dtype::q4_k, dtype::q8_0, dtype::f16, dtype::f32, dtype::q6_k}));
  EXPECT_EQ(packaged_formats(m, {.type = dtype::q4_k,
                                 .exceptions = {{"*.w_2.weight", dtype::q8_0}, {"*.1.w_*.weight", dtype::f16}}}),
            (list{dtype::q4_k, dtype::q8_0, dtype::f16, dtype::f16, dtype::f32, dtype::q4_k}));
  EXPECT_EQ(packaged_formats(m, {.exceptions = {{"*norm*", dtype::f32}, {"ctc*", dtype::q5_k}}}),
            (list{dtype::f32, dtype::f32, dtype::f32, dtype::f32, dtype::f32, dtype::q5_k}))
      << "without a type the others stay as they are";
}

TEST(number_formats, refused_exceptions_name_their_tensor) {
  const imported_model m = model();
  const auto refused = [&](const char* glob, dtype type) {
    return test::refusal([&] { (void)packaged_formats(m, {.exceptions = {{glob, type}}}); });
  };
  EXPECT_EQ(refused("encoder.layers.*.w_3.weight", dtype::q8_0),
            "m.pt: --type-of \"encoder.layers.*.w_3.weight=q8_0\": no tensor has such a name (near names: "
            "encoder.layers.0.w_2.weight, encoder.layers.0.linear_v.weight, encoder.in.weight)");
  EXPECT_EQ(refused("*.norm.weight", dtype::f16),
            "m.pt: tensor \"encoder.layers.0.norm.weight\" cannot be f16 (it is no matrix of a product, and f32 in "
            "every file)");
  EXPECT_EQ(refused("encoder.in.weight", dtype::q8_0),
            "m.pt: tensor \"encoder.in.weight\" cannot be q8_0: expected rows of a multiple of 32 values, found 80");
  EXPECT_EQ(refused("*w_2*", dtype::q6_k),
            "m.pt: tensor \"encoder.layers.1.w_2.weight\" cannot be q6_k: expected rows of a multiple of 256 values, "
            "found 288");
}

TEST(number_formats, distance_of_a_pattern) {
  EXPECT_EQ(pattern_distance("abc", "abc"), 0u);
  EXPECT_EQ(pattern_distance("a*c", "abbbc"), 0u);
  EXPECT_EQ(pattern_distance("*", ""), 0u);
  EXPECT_EQ(pattern_distance("abd", "abc"), 1u);
  EXPECT_EQ(pattern_distance("", "abc"), 3u);
  EXPECT_EQ(pattern_distance("*.w_3.*", "x.w_2.weight"), 1u);
}

TEST(number_formats, of_a_file) {
  test::temporary_directory d;
  const auto out = d.path() / "out.gguf";
  convert(test::fixture("sense_voice"), out,
          {.type = dtype::q4_k, .mix = true, .exceptions = {{"ctc.*.weight", dtype::q5_1}}});
  const gguf_file f(out.string());
  EXPECT_EQ(f.number("general.file_type"), 15);
  EXPECT_EQ(f.find("ctc.ctc_lo.weight")->format, dtype::q5_1);
  // Rows of 32 values: q6_k becomes q8_0 in the last layer, q4_k q5_0.
  EXPECT_EQ(f.find("encoder.encoders.0.feed_forward.w_2.weight")->format, dtype::q8_0);
  EXPECT_EQ(f.find("encoder.encoders.0.feed_forward.w_1.weight")->format, dtype::q5_0);
}

}  // namespace number_formats_test
