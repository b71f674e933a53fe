// SPDX-License-Identifier: Apache-2.0
#include <steno/core/bit_cast.hpp>
#include <steno/weights/blocks.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <npy.hpp>
#include <string>
#include <support/golden.hpp>

namespace blocks_test {

using steno::dtype;

constexpr const char* formats[] = {"f32",  "f16",    "bf16", "q8_0", "q4_0", "q4_1", "q5_0",
                                   "q5_1", "iq4_nl", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
constexpr const char* written[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"};

constexpr dtype block_formats[] = {dtype::q8_0, dtype::q4_0, dtype::q4_1, dtype::q5_0,  dtype::q5_1,
                                   dtype::q4_k, dtype::q5_k, dtype::q6_k, dtype::q8_128};  // that are written

// Bit for bit: -0 and 0 differ.
void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b, const std::string& name) {
  ASSERT_EQ(a.size(), b.size()) << name;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(steno::core::bit_cast<std::uint32_t>(a[i]), steno::core::bit_cast<std::uint32_t>(b[i]))
        << name << " value " << i << ": " << a[i] << " and " << b[i];
}

void expect_dequantised(const std::filesystem::path& folder) {
  for (const std::string name : formats) {
    const auto stored = npy::load(folder / (name + ".blocks.npy")), want = npy::load(folder / (name + ".dequant.npy"));
    const auto format = steno::core::find_dtype(name);
    ASSERT_TRUE(format) << name;
    ASSERT_EQ(stored.bytes.size(), steno::core::bytes_of(format->type, static_cast<std::size_t>(want.size()))) << name;
    // One byte off: blocks need no alignment.
    std::vector<std::byte> shifted(stored.bytes.size() + 1);
    std::memcpy(shifted.data() + 1, stored.bytes.data(), stored.bytes.size());
    std::vector<float> got(static_cast<std::size_t>(want.size()));
    steno::weights::dequantise(format->type, shifted.data() + 1, got.data(), got.size());
    expect_same_bits(got, want.floats(), name);
  }
}

void expect_quantised(const std::filesystem::path& blocks, const std::vector<float>& values, const std::string& name) {
  const auto want = npy::load(blocks);
  const dtype format = steno::core::find_dtype(name)->type;
  std::vector<std::byte> got(steno::core::bytes_of(format, values.size()));
  ASSERT_EQ(got.size(), want.bytes.size()) << name;
  steno::weights::quantise(format, values.data(), got.data(), values.size());
  const std::size_t block = steno::core::info(format).bytes;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::to_integer<int>(got[i]), static_cast<unsigned char>(want.bytes[i]))
        << name << " block " << i / block << " byte " << i % block;
}

std::vector<float> round_trip(dtype format, std::vector<float> x) {
  std::vector<std::byte> stored(steno::core::bytes_of(format, x.size()));
  steno::weights::quantise(format, x.data(), stored.data(), x.size());
  steno::weights::dequantise(format, stored.data(), x.data(), x.size());
  return x;
}

TEST(blocks, values_equal_ggmls) { expect_dequantised(steno::test::compact() / "quant"); }

TEST(blocks, stored_bytes_equal_ggmls) {
  const auto folder = steno::test::compact() / "quant";
  const auto values = npy::load(folder / "src.npy").floats();
  for (const std::string name : written) expect_quantised(folder / (name + ".blocks.npy"), values, name);
}

TEST(blocks, values_equal_ggmls_on_all_golden_rows) {
  STENO_REQUIRE_SHARED(shared);
  expect_dequantised(shared / "golden" / "quant");
}

TEST(blocks, stored_bytes_equal_ggmls_on_all_golden_rows) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden" / "quant";
  for (const std::string name : written)
    expect_quantised(folder / (name + ".blocks.npy"), npy::load(folder / (name + ".src.npy")).floats(), name);
}

/// Sum of squares of what a format loses, row by row of `cols` values.
std::vector<double> losses(const std::vector<float>& values, const std::vector<float>& kept, std::size_t cols) {
  std::vector<double> sums(values.size() / cols);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double d = static_cast<double>(values[i]) - kept[i];
    sums[i / cols] += d * d;
  }
  return sums;
}

// Not the bytes of ggml. q4_k and q5_k try what stands on both sides of a multiple that has to be rounded, so that no
// row loses more. In q6_k sums of floats decide, whose order matters between nearly equal ones; they minimise a
// weighted loss, and the plain one of a row is within 2 % of ggml's, above or below.
TEST(blocks, k_formats_lose_no_more_than_ggmls) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden" / "quant";
  for (const std::string name : {"q4_k", "q5_k", "q6_k"}) {
    const auto values = npy::load(folder / (name + ".src.npy")).floats();
    const auto ggml = losses(values, npy::load(folder / (name + ".dequant.npy")).floats(), 512);
    const auto ours = losses(values, round_trip(steno::core::find_dtype(name)->type, values), 512);
    for (std::size_t r = 0; r < ours.size(); ++r)
      EXPECT_LE(ours[r], (name == "q6_k" ? 1.03 : 1) * ggml[r]) << name << " row " << r;
  }
}

TEST(blocks, k_formats_keep_what_they_can_hold) {
  for (const dtype format : {dtype::q4_k, dtype::q5_k, dtype::q6_k}) {
    std::vector<float> zeros(256), steps(256);
    EXPECT_EQ(round_trip(format, zeros), zeros);
    for (std::size_t i = 0; i < 256; ++i) steps[i] = static_cast<float>(i % 16) - 8;
    const auto kept = round_trip(format, steps);
    // Scale and minimum are multiples of 1/63 (1/128) of the largest, in half precision.
    for (std::size_t i = 0; i < 256; ++i) EXPECT_NEAR(kept[i], steps[i], 0.02) << i;
  }
}

TEST(blocks, every_half_and_bfloat_pattern_reads_as_core_half_says) {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  std::vector<float> half(65536), bfloat(65536), want_half(65536), want_bfloat(65536);
  const auto* bytes = reinterpret_cast<const std::byte*>(patterns.data());
  steno::weights::dequantise(dtype::f16, bytes, half.data(), half.size());
  steno::weights::dequantise(dtype::bf16, bytes, bfloat.data(), bfloat.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    want_half[i] = steno::core::half_to_float(patterns[i]);
    want_bfloat[i] = steno::core::bfloat_to_float(patterns[i]);
  }
  expect_same_bits(half, want_half, "f16");
  expect_same_bits(bfloat, want_bfloat, "bf16");
}

TEST(blocks, floats_round_to_half_as_core_half_says) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 9973)
    x.push_back(steno::core::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const std::uint32_t edge : {0x387fffffu, 0x38800000u, 0x477fefffu, 0x477ff000u, 0x477fffffu, 0x47800000u,
                                   0x7f800000u, 0x7f800001u, 0xff800000u, 0x33000000u, 0x33000001u, 0x80000000u})
    x.push_back(steno::core::bit_cast<float>(edge));
  std::vector<std::uint16_t> got(x.size());
  steno::weights::quantise(dtype::f16, x.data(), reinterpret_cast<std::byte*>(got.data()), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], steno::core::float_to_half(x[i])) << x[i];
}

TEST(blocks, q8_0_rounds_halves_away_from_zero) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;  // scale 1
  x[1] = 2.5f, x[2] = -2.5f, x[3] = 3.5f, x[4] = 0.49999997f, x[5] = -0.5f, x[6] = -127.0f;
  const auto y = round_trip(dtype::q8_0, x);
  EXPECT_EQ(y[0], 127.0f);
  EXPECT_EQ(y[1], 3.0f);
  EXPECT_EQ(y[2], -3.0f);
  EXPECT_EQ(y[3], 4.0f);
  EXPECT_EQ(y[4], 0.0f);
  EXPECT_EQ(y[5], -1.0f);
  EXPECT_EQ(y[6], -127.0f);
}

// The bytes of q8_0 where all values have one largest among them; one scale for all.
TEST(blocks, bf16_a16_is_stored_as_bf16) {
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 3;
  std::vector<std::byte> a(2000), b(2000);
  steno::weights::quantise(dtype::bf16, x.data(), a.data(), x.size());
  steno::weights::quantise(dtype::bf16_a16, x.data(), b.data(), x.size());
  EXPECT_EQ(a, b);
  expect_same_bits(round_trip(dtype::bf16_a16, x), round_trip(dtype::bf16, x), "bf16_a16");
}

TEST(blocks, q8_128_is_q8_0_with_a_scale_for_128_values) {
  std::vector<float> x;
  for (int i = 0; i < 256; ++i) x.push_back(static_cast<float>((i * 37) % 101 - 50) * 0.01f);
  for (std::size_t i = 0; i < x.size(); i += 32) x[i + i / 32] = i < 128 ? 1.5f : -3.0f;
  std::vector<std::byte> wide(2 * 130), narrow(8 * 34);
  steno::weights::quantise(dtype::q8_128, x.data(), wide.data(), x.size());
  steno::weights::quantise(dtype::q8_0, x.data(), narrow.data(), x.size());
  for (std::size_t b = 0; b < 8; ++b) {
    EXPECT_EQ(std::memcmp(&wide[b / 4 * 130], &narrow[b * 34], 2), 0) << b;
    EXPECT_EQ(std::memcmp(&wide[b / 4 * 130 + 2 + b % 4 * 32], &narrow[b * 34 + 2], 32), 0) << b;
  }
  expect_same_bits(round_trip(dtype::q8_128, x), round_trip(dtype::q8_0, x), "q8_128");
  x[70] = 100;  // steps are of the largest of 128
  const std::vector<float> y = round_trip(dtype::q8_128, x);
  const float step = steno::core::half_to_float(steno::core::float_to_half(100.0f / 127));
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(y[i], x[i], 0.51f * step) << i;
  EXPECT_EQ(y[128], round_trip(dtype::q8_0, x)[128]);
}

TEST(blocks, zeros_and_values_below_the_smallest_scale_stay_zero) {
  for (const dtype format : block_formats)
    for (const float tiny : {0.0f, 1e-45f, -1e-40f, 1e-30f})
      for (const float v : round_trip(format, std::vector<float>(steno::core::info(format).elements, tiny)))
        EXPECT_EQ(v, 0.0f);
}

TEST(blocks, values_without_a_finite_scale_are_refused) {
  for (const dtype format : block_formats)
    for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf(""), -3e38f}) {
      std::vector<float> x(256, 1.0f);
      x[40] = bad;
      EXPECT_THROW(round_trip(format, x), steno::error) << bad;
    }
}

TEST(blocks, partial_blocks_and_foreign_formats_are_refused) {
  float x[300] = {};
  std::byte b[1200] = {};
  EXPECT_THROW(steno::weights::dequantise(dtype::q8_0, b, x, 31), steno::error);
  EXPECT_THROW(steno::weights::dequantise(dtype::q4_k, b, x, 32), steno::error);
  EXPECT_THROW(steno::weights::quantise(dtype::q8_0, x, b, 33), steno::error);
  EXPECT_THROW(steno::weights::quantise(dtype::q8_128, x, b, 96), steno::error);
  EXPECT_THROW(steno::weights::quantise(dtype::q5_1, x, b, 31), steno::error);
  EXPECT_THROW(steno::weights::quantise(dtype::q2_k, x, b, 256), steno::error);
  EXPECT_THROW(steno::weights::dequantise(dtype::any, b, x, 1), steno::error);
  try {
    steno::weights::dequantise(static_cast<dtype>(16), b, x, 256);
    FAIL();
  } catch (const steno::error& e) {
    EXPECT_NE(std::string(e.what()).find("iq2_xxs"), std::string::npos) << e.what();
  }
  for (const auto& format : steno::core::dtype_table) {
    if (steno::weights::can_quantise(format.type))
      EXPECT_NO_THROW(steno::weights::quantise(format.type, x, b, 256)) << format.name;
    else
      EXPECT_THROW(steno::weights::quantise(format.type, x, b, 256), steno::error) << format.name;
  }
}

TEST(blocks, values_of_a_tensor) {
  const std::int32_t stored[4] = {1, -2, 3, 1 << 20};
  const steno::weights::tensor_ref t{
      .name = "ids", .format = dtype::i32, .rank = 1, .shape = {4, 1, 1, 1}, .bytes = std::as_bytes(std::span(stored))};
  EXPECT_EQ(steno::weights::values_of(t, "here"), (std::vector<float>{1, -2, 3, 1048576}));
  steno::weights::tensor_ref foreign = t;
  foreign.format = static_cast<dtype>(39);
  try {
    steno::weights::values_of(foreign, "file.gguf");
    FAIL();
  } catch (const steno::error& e) {
    EXPECT_STREQ(e.what(), "file.gguf: tensor \"ids\": number format mxfp4 is not supported");
  }
}

}  // namespace blocks_test
