// Packaging takes large tensors piece by piece: the same bytes as at once.
// SPDX-License-Identifier: Apache-2.0
#include "package.hpp"

#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

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

// In every place, as they are looked at four at a time, between the largest and smallest of both signs.
TEST(package, a_moved_value_is_looked_at_wherever_it_is) {
  constexpr std::size_t count = 11;
  struct format {
    dtype type;
    std::uint16_t largest, infinity;
  };
  for (const format& f : {format{dtype::f16, 0x7bff, 0x7c00}, format{dtype::bf16, 0x7f7f, 0x7f80}}) {
    const auto sign = [](unsigned half) { return static_cast<std::uint16_t>(half | 0x8000); };
    const std::uint16_t numbers[] = {f.largest, sign(f.largest), 0, sign(0), 1, sign(1)};
    const std::uint16_t none[] = {f.infinity, sign(f.infinity), static_cast<std::uint16_t>(f.infinity + 1), 0xffff};
    for (std::size_t at = 0; at <= count; ++at)
      for (const std::uint16_t bad : none) {
        std::vector<std::uint16_t> halves(count);
        for (std::size_t i = 0; i < count; ++i) halves[i] = numbers[(i + at) % std::size(numbers)];
        if (at < count) halves[at] = bad;
        const auto bytes = std::as_bytes(std::span(halves));
        imported_model m;
        m.where = "x";
        m.tensors.push_back({.name = "matrix", .shape = {1, count}, .stored = f.type, .product = true});
        m.tensors[0].read = [&](std::span<float> out) {
          weights::dequantise(f.type, bytes.data(), out.data(), out.size());
        };
        m.tensors[0].write = [&](std::span<std::byte> out) { std::copy(bytes.begin(), bytes.end(), out.begin()); };
        const std::string said = test::refusal([&] { (void)packed(std::move(m), f.type); });
        EXPECT_EQ(said.find("holds a value that") != std::string::npos, at < count) << at << " " << bad << ": " << said;
      }
  }
}

}  // namespace package_test
