// Packaging takes large tensors piece by piece: the same bytes as at once.
// SPDX-License-Identifier: Apache-2.0
#include "package.hpp"

#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/refusal.hpp"

#include <gtest/gtest.h>

namespace package_test {

using namespace steno;

constexpr std::size_t columns = 512, rows = 5000;  // two pieces and a part of one

std::vector<std::byte> stored_values(float last) {
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013) / 64 - 7;
  values.back() = last;
  std::vector<std::byte> bytes(values.size() * 2);
  weights::quantise(dtype::bf16, values.data(), bytes.data(), values.size());
  return bytes;
}

// A model of one matrix; the source shows its bytes, or can only read them.
imported_model one_matrix(const std::vector<std::byte>& bytes, bool shown) {
  imported_model m;
  m.where = "x";
  m.tensors.push_back({.name = "matrix",
                       .shape = {static_cast<extent>(rows), static_cast<extent>(columns)},
                       .stored = dtype::bf16,
                       .product = true});
  if (shown) m.tensors[0].bytes = bytes;
  m.tensors[0].read = [&bytes](std::span<float> out) {
    weights::dequantise(dtype::bf16, bytes.data(), out.data(), out.size());
  };
  return m;
}

std::vector<std::byte> packed(imported_model m, dtype type) {
  add_tensors(m, {.type = type});
  return m.file.bytes();
}

TEST(package, pieces_are_as_the_whole) {
  const std::vector<std::byte> bytes = stored_values(1);
  for (const dtype type :
       {dtype::f32, dtype::f16, dtype::bf16, dtype::q8_0, dtype::q4_k, dtype::q6_k, dtype::q8_128, dtype::bf16_a16}) {
    const std::vector<std::byte> pieces = packed(one_matrix(bytes, true), type);
    EXPECT_EQ(pieces, packed(one_matrix(bytes, false), type)) << weights::format_name(type);
    std::vector<float> values(rows * columns);
    weights::dequantise(dtype::bf16, bytes.data(), values.data(), values.size());
    std::vector<std::byte> whole(core::bytes_of(type, values.size()));
    weights::quantise(type, values.data(), whole.data(), values.size());
    EXPECT_TRUE(std::equal(whole.begin(), whole.end(), pieces.end() - static_cast<std::ptrdiff_t>(whole.size())))
        << weights::format_name(type);
  }
}

TEST(package, a_value_of_the_last_piece_is_named) {
  for (const bool shown : {false, true}) {
    const std::vector<std::byte> bytes = stored_values(3e38f);
    const auto said = [&](dtype type) { return test::refusal([&] { (void)packed(one_matrix(bytes, shown), type); }); };
    EXPECT_TRUE(said(dtype::f16).starts_with("x: tensor \"matrix\" holds a value that f16 cannot hold"))
        << said(dtype::f16);
    EXPECT_TRUE(said(dtype::q8_0).starts_with("x: tensor \"matrix\": a value cannot be stored as q8_0"))
        << said(dtype::q8_0);
    EXPECT_EQ(said(dtype::f32), "");
  }
}

// Values that are moved as they are stored are looked at, too.
TEST(package, a_moved_value_that_is_no_number_is_named) {
  for (const float last : {1.0f, std::nanf(""), INFINITY}) {
    const std::vector<std::byte> bytes = stored_values(last);
    imported_model m = one_matrix(bytes, false);
    m.tensors[0].write = [&](std::span<std::byte> out) { std::copy(bytes.begin(), bytes.end(), out.begin()); };
    const std::string said = test::refusal([&] { (void)packed(std::move(m), dtype::bf16); });
    EXPECT_EQ(said.starts_with("x: tensor \"matrix\" holds a value that bf16 cannot hold"), last != 1.0f) << said;
  }
}

}  // namespace package_test
