// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <support/gguf_golden.hpp>
#include <support/refusal.hpp>

namespace gguf_writer_test {

using steno::dtype;
using steno::extent;
using steno::gguf_file;
using steno::test::compact;
using steno::test::files_in;
using steno::test::refusal;
using steno::weights::gguf_writer;

gguf_writer rewrite(const gguf_file& f) {
  gguf_writer w;
  for (const auto& v : f.values()) w.copy(v);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const auto t = f.tensor(i);
    w.add(t.name, t.format, std::span(t.shape).first(static_cast<std::size_t>(t.rank)), t.bytes);
  }
  return w;
}
const std::vector<std::byte>& eight_bytes() {
  static const std::vector<std::byte> bytes(8, std::byte{1});
  return bytes;
}

TEST(gguf_writer, rewriting_ggmls_files_gives_the_same_bytes) {
  const steno::test::temporary_directory folder;
  for (const char* name : {"sample.gguf", "sample32.gguf"}) {
    const auto want = steno::test::read_bytes(compact() / "gguf" / name);
    const gguf_file f("memory", want);
    const gguf_writer w = rewrite(f);
    EXPECT_EQ(w.bytes(), want) << name;
    EXPECT_EQ(w.size(), want.size()) << name;
    const auto path = folder.path() / name;
    w.write(path.string());
    EXPECT_EQ(steno::test::read_bytes(path), want) << name;
  }
  EXPECT_EQ(files_in(folder.path()), 2u);
}

TEST(gguf_writer, keys_of_every_type_survive) {
  gguf_writer w;
  w.set("u8", std::uint8_t{200});
  w.set("i8", std::int8_t{-100});
  w.set("u16", std::uint16_t{60000});
  w.set("i16", std::int16_t{-30000});
  w.set("u32", std::uint32_t{4000000000u});
  w.set("i32", -2000000000);
  w.set("f32", 1.25f);
  w.set("yes", true);
  w.set("no", false);
  w.set("text", "Gr\xc3\xbc\xc3\x9f");
  w.set("u64", ~std::uint64_t{0});
  w.set("i64", INT64_MIN);
  w.set("f64", 1e-300);
  w.set("a.f32", std::vector<float>{1, 2});
  w.set("a.u16", std::vector<std::uint16_t>{});
  const bool flags[] = {true, false, true};
  w.set("a.bool", std::span<const bool>(flags));
  w.set("a.text", std::vector<std::string>{"", "a", std::string("\0b", 2)});
  const auto bytes = w.bytes();
  const gguf_file f("memory", bytes);
  EXPECT_EQ(f.version(), 3u);
  EXPECT_EQ(f.keys().front(), "u8");
  EXPECT_EQ(f.keys().back(), "a.text");
  EXPECT_EQ(f.value("u8")->get<std::uint8_t>(), 200);
  EXPECT_EQ(f.value("i8")->get<std::int8_t>(), -100);
  EXPECT_EQ(f.value("u16")->get<std::uint16_t>(), 60000);
  EXPECT_EQ(f.value("i16")->get<std::int16_t>(), -30000);
  EXPECT_EQ(f.value("u32")->get<std::uint32_t>(), 4000000000u);
  EXPECT_EQ(f.value("i32")->get<std::int32_t>(), -2000000000);
  EXPECT_EQ(f.value("f32")->get<float>(), 1.25f);
  EXPECT_EQ(f.value("yes")->get<bool>(), true);
  EXPECT_EQ(f.value("no")->get<bool>(), false);
  EXPECT_EQ(f.text("text"), "Gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(f.value("u64")->get<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(f.value("i64")->get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(f.value("f64")->get<double>(), 1e-300);
  EXPECT_EQ(f.numbers("a.f32"), (std::vector<double>{1, 2}));
  EXPECT_TRUE(f.numbers("a.u16").empty());
  EXPECT_EQ(f.value("a.bool")->array_of<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(f.strings("a.text"), (std::vector<std::string>{"", "a", std::string("\0b", 2)}));
}

TEST(gguf_writer, strings_of_another_file_are_taken_over) {
  gguf_writer from;
  from.set("tokens", std::vector<std::string>{"", "a", std::string("\0b", 2)});
  const auto bytes = from.bytes();
  const gguf_file f("memory", bytes);
  gguf_writer w;
  w.set("again", f.string_views("tokens"));
  const auto more = w.bytes();
  EXPECT_EQ(gguf_file("memory", more).strings("again"), f.strings("tokens"));
}

// As a file without tensors, which is there at once.
TEST(gguf_writer, keys_are_read_before_the_file_is_written) {
  gguf_writer w;
  EXPECT_TRUE(gguf_file("memory", w.keys()).keys().empty());
  w.set("general.alignment", std::uint32_t{64});
  w.add("not a pair", dtype::f32, {2}, eight_bytes());
  w.set("tokens", std::vector<std::string>{"", "a"});
  EXPECT_NE(refusal([&] { w.set("tokens", 1); }).find("key \"tokens\" occurs twice"), std::string::npos);
  const gguf_file f("memory", w.keys());
  EXPECT_EQ(f.keys(), (std::vector<std::string_view>{"general.alignment", "tokens"}));
  EXPECT_EQ(f.strings("tokens"), (std::vector<std::string>{"", "a"}));
  EXPECT_EQ(f.size(), 0u);
  const auto bytes = w.bytes();
  const gguf_file whole("memory", bytes);
  EXPECT_EQ(whole.keys(), f.keys());
  EXPECT_EQ(whole.size(), 1u);
}

TEST(gguf_writer, tensors_come_from_bytes_and_from_callbacks) {
  gguf_writer w;
  w.set("general.alignment", std::uint32_t{128});
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  w.add("given", dtype::f32, {2, 3}, std::as_bytes(std::span(values)));
  std::vector<float> many(64 * 4);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i) - 100;
  w.add("made", dtype::q8_0, {4, 64}, [&](std::span<std::byte> out) {
    ASSERT_EQ(out.size(), 4u * 2 * 34);
    steno::weights::quantise(dtype::q8_0, many.data(), out.data(), many.size());
  });
  w.add("zeros", dtype::f16, {3}, [](std::span<std::byte>) {});
  w.add("scalar", dtype::f32, {}, [](std::span<std::byte> out) { EXPECT_EQ(out.size(), 4u); });
  w.add("none", dtype::f32, {0, 7}, std::span<const std::byte>());
  w.add("foreign", static_cast<dtype>(39), {2, 32}, [](std::span<std::byte> out) { EXPECT_EQ(out.size(), 34u); });
  std::uint64_t last = 0, total = 0;
  int calls = 0;
  const steno::test::temporary_directory folder;
  const std::string path = (folder.path() / "out.gguf").string();
  w.write(path, [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
    ++calls;
  });
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(last, total);
  EXPECT_EQ(std::filesystem::file_size(path), total);
  EXPECT_EQ(w.bytes(), steno::test::read_bytes(path));
  EXPECT_EQ(total % 128, 0u);
  const gguf_file f(path);
  EXPECT_EQ(f.alignment(), 128u);
  ASSERT_EQ(f.size(), 6u);
  EXPECT_EQ(f.find("given")->shape_text(), "[2 x 3]");
  EXPECT_EQ(steno::weights::values_of(*f.find("given"), f.where()), values);
  EXPECT_EQ(f.find("made")->cols(), 64);
  std::vector<std::byte> made(steno::core::bytes_of(dtype::q8_0, many.size()));
  steno::weights::quantise(dtype::q8_0, many.data(), made.data(), many.size());
  EXPECT_EQ(std::vector(f.find("made")->bytes.begin(), f.find("made")->bytes.end()), made);
  EXPECT_EQ(steno::weights::values_of(*f.find("zeros"), f.where()), std::vector<float>(3));
  EXPECT_EQ(f.find("scalar")->rank, 0);
  EXPECT_TRUE(f.find("none")->bytes.empty());
  for (std::size_t i = 0; i < f.size(); ++i)
    EXPECT_EQ((f.tensor(i).bytes.data() - f.tensor(0).bytes.data()) % 128, 0) << i;
}

TEST(gguf_writer, refuses_what_the_reader_would_refuse) {
  gguf_writer w;
  w.set("k", 1);
  w.add("t", dtype::f32, {2}, std::span<const std::byte>(eight_bytes()));
  const auto nothing = [](std::span<std::byte>) {};
  EXPECT_EQ(refusal([&] { w.set("k", 2); }), "key \"k\" occurs twice");
  EXPECT_EQ(refusal([&] { w.set("", 2); }), "a key is empty");
  EXPECT_EQ(refusal([&] { w.add("t", dtype::f32, {2}, nothing); }), "tensor name \"t\" occurs twice");
  EXPECT_EQ(refusal([&] { w.add("", dtype::f32, {2}, nothing); }), "a tensor name is empty");
  EXPECT_NE(refusal([&] { w.add(std::string(64, 'x'), dtype::f32, {2}, nothing); }).find("up to 63 bytes"),
            std::string::npos);
  EXPECT_EQ(refusal([&] {
              w.add("u", dtype::q8_0, {4, 33}, nothing);
            }),
            "tensor \"u\": row length in q8_0: expected a multiple of 32, found 33");
  EXPECT_NE(refusal([&] { w.add("u", static_cast<dtype>(4), {32}, nothing); }).find("an id that ggml has"),
            std::string::npos);
  EXPECT_NE(refusal([&] { w.add("u", dtype::f32, {1, 1, 1, 1, 1}, nothing); }).find("up to 4"), std::string::npos);
  EXPECT_NE(refusal([&] { w.add("u", dtype::f32, {2, -1}, nothing); }).find("0 or more"), std::string::npos);
  EXPECT_NE(refusal([&] {
              w.add("u", dtype::f32, {PTRDIFF_MAX / 1024, PTRDIFF_MAX / 1024}, nothing);
            }).find("number of elements: expected below 2^"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { w.add("u", dtype::f32, {3}, std::span<const std::byte>(eight_bytes())); }),
            "tensor \"u\": expected 12 bytes, found 8 bytes");
  EXPECT_NE(refusal([&] { w.set("general.alignment", std::uint32_t{48}); }).find("power of two"), std::string::npos);
  EXPECT_NE(refusal([&] { w.set("general.alignment", 64); }).find("type u32"), std::string::npos);
  EXPECT_NE(refusal([&] { w.set("general.alignment", "64"); }).find("type u32"), std::string::npos);
  EXPECT_NE(refusal([&] { w.set("general.alignment", std::vector<std::uint32_t>{64}); }).find("type u32"),
            std::string::npos);
  // What was refused left no trace: the names are free and the file is sound.
  w.add("u", dtype::f32, {2}, std::span<const std::byte>(eight_bytes()));
  w.set("general.alignment", std::uint32_t{64});
  const auto bytes = w.bytes();
  const gguf_file f("memory", bytes);
  EXPECT_EQ(f.size(), 2u);
  EXPECT_EQ(f.values().size(), 2u);
  EXPECT_EQ(f.alignment(), 64u);
}

TEST(gguf_writer, an_error_leaves_the_old_file_and_no_other) {
  const steno::test::temporary_directory folder;
  const auto path = folder.path() / "model.gguf";
  std::ofstream(path) << "old";
  gguf_writer w;
  w.add("t", dtype::f32, {1000}, [](std::span<std::byte>) { throw std::runtime_error("the source broke"); });
  EXPECT_THROW(w.write(path.string()), std::runtime_error);
  EXPECT_EQ(files_in(folder.path()), 1u);
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
  const auto missing = folder.path() / "no folder" / "model.gguf";
  EXPECT_EQ(refusal([&] { w.write(missing.string()); }),
            missing.string() + ": cannot create the file: No such file or directory");
  EXPECT_EQ(refusal([&] { w.write(folder.path().string()); }), folder.path().string() + ": is a directory, not a file");
}

}  // namespace gguf_writer_test
