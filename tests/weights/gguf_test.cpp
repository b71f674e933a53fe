// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <support/gguf_golden.hpp>

namespace gguf_test {

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

using steno::dtype;
using steno::gguf_file;
using steno::test::compact;
using steno::weights::gguf_type;

// Builds files byte by byte, so that a test can write what no writer would.
struct builder {
  std::string s;
  template <class T>
  builder& number(T v) {
    s.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  builder& string(std::string_view text) {
    number(static_cast<std::uint64_t>(text.size()));
    s += text;
    return *this;
  }
  builder& header(std::int64_t tensors, std::int64_t pairs) {
    s += "GGUF";
    return number(std::uint32_t{3}).number(tensors).number(pairs);
  }
  builder& tensor(std::string_view name, std::vector<std::int64_t> ne, std::int32_t type, std::uint64_t offset) {
    string(name).number(static_cast<std::uint32_t>(ne.size()));
    for (const auto n : ne) number(n);
    return number(type).number(offset);
  }
  builder& data(std::size_t bytes, std::size_t alignment = 32) {
    s.resize((s.size() + alignment - 1) / alignment * alignment + bytes);
    return *this;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(s)); }
  gguf_file load() const { return gguf_file("memory", bytes()); }
  std::string message() const {
    try {
      load();
    } catch (const steno::error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST(gguf, sample_holds_what_its_writer_put_in) {
  steno::test::expect_gguf(gguf_file((compact() / "gguf" / "sample.gguf").string()),
                           compact() / "gguf" / "expected.json");
}

TEST(gguf, sample_without_alignment_key) {
  steno::test::expect_gguf(gguf_file((compact() / "gguf" / "sample32.gguf").string()),
                           compact() / "gguf" / "expected32.json");
}

TEST(gguf, bytes_in_memory_read_as_the_file_does) {
  const auto bytes = steno::test::read_bytes(compact() / "gguf" / "sample.gguf");
  // One byte off: nothing may rely on the alignment of the bytes.
  std::vector<std::byte> shifted(1);
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  gguf_file first("memory", std::span(shifted).subspan(1));
  const gguf_file f(std::move(first));
  EXPECT_EQ(f.where(), "memory");
  steno::test::expect_gguf(f, compact() / "gguf" / "expected.json");
}

TEST(gguf, dequantised_tensors_equal_ggmls) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"sample.gguf", "sample32.gguf"}) {
    const gguf_file f((shared / "golden" / "gguf" / name).string());
    for (std::size_t i = 0; i < f.size(); ++i) {
      const auto t = f.tensor(i);
      const auto want = npy::load(shared / "golden" / "gguf" / "tensors" / (std::string(t.name) + ".npy"));
      EXPECT_EQ(std::vector<std::int64_t>(t.shape.begin(), t.shape.begin() + t.rank), want.shape) << t.name;
      EXPECT_EQ(steno::weights::values_of(t, f.where()), want.floats()) << t.name;
      f.release(t);
      EXPECT_EQ(steno::weights::values_of(t, f.where()), want.floats()) << t.name << " after release";
    }
  }
}

// Ours against ggml's verdict. 8 (version 2) is the format. 19, 20: bytes that are not UTF-8, 28: a bool of 2; ggml
// accepts them, and so does steno: names are compared as bytes, and any non-zero byte is true.
TEST(gguf, damaged_variants_load_or_throw_as_in_ggml) {
  const auto sample = steno::test::read_bytes(compact() / "gguf" / "sample.gguf");
  const auto variants = steno::test::damaged_variants(compact() / "gguf" / "broken.txt");
  ASSERT_EQ(variants.size(), 58u);
  for (const auto& v : variants) {
    const auto bytes = v.apply(sample);
    if (v.number != 0) {
      ASSERT_NE(bytes, sample) << v.number;
    }
    bool accepted = true;
    std::string message;
    try {
      const gguf_file f("variant", bytes);
      for (const auto& value : f.values()) steno::test::as_json(value);
      for (std::size_t i = 0; i < f.size(); ++i) steno::weights::values_of(f.tensor(i), f.where());
    } catch (const steno::error& e) {
      accepted = false;
      message = e.what();
      EXPECT_TRUE(message.starts_with("variant: ")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    EXPECT_EQ(accepted, v.accepted_by_ggml) << v.number << " " << v.what << ": " << message;
  }
}

TEST(gguf, every_cut_of_the_sample_throws) {
  const auto sample = steno::test::read_bytes(compact() / "gguf" / "sample.gguf");
  for (std::size_t n = 0; n < sample.size(); n = n < 2400 ? n + 1 : n + 97) {
    const std::vector<std::byte> cut(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_THROW(gguf_file("cut", cut), steno::error) << n;
  }
}

TEST(gguf, settings_by_full_key) {
  const gguf_file f((compact() / "gguf" / "sample.gguf").string());
  EXPECT_EQ(f.text("general.architecture"), "steno-sample");
  EXPECT_EQ(f.text("t.str_empty"), "");
  EXPECT_EQ(f.number("t.i32"), -2147483648.0);
  EXPECT_EQ(f.number("t.f32"), 0.15625);
  EXPECT_EQ(f.number("t.bool_true"), 1.0);
  EXPECT_EQ(f.number("t.nothing"), std::nullopt);
  EXPECT_EQ(f.text("general"), std::nullopt);
  EXPECT_FALSE(f.find("token_embd"));
  EXPECT_FALSE(f.find(""));
  EXPECT_TRUE(f.has("a.empty"));
  EXPECT_EQ(f.keys().front(), "general.architecture");
  EXPECT_EQ(f.keys().size(), f.values().size());
  EXPECT_EQ(f.numbers("a.i8"), (std::vector<double>{-128, -1, 0, 127}));
  EXPECT_TRUE(f.numbers("a.empty").empty());
  EXPECT_EQ(f.strings("tokenizer.ggml.merges"), (std::vector<std::string>{"\xc4\xa0 h", "h e"}));
  const steno::weights::stored_strings merges = f.string_views("tokenizer.ggml.merges");
  EXPECT_EQ(merges.size(), 2u);
  EXPECT_EQ(*merges.begin(), "\xc4\xa0 h");
  EXPECT_EQ(*++merges.begin(), "h e");
  EXPECT_EQ(++ ++merges.begin(), merges.end());
  EXPECT_TRUE(steno::weights::stored_strings().empty());
  EXPECT_EQ(steno::weights::stored_strings().begin(), steno::weights::stored_strings().end());
  EXPECT_EQ(f.value("t.u8")->get<std::uint8_t>(), 255);
  EXPECT_EQ(f.value("t.u8")->get<std::uint32_t>(), std::nullopt);
  EXPECT_EQ(f.value("a.f32")->type_text(), "array of f32");
}

// Lengths that were right when the file was read, and are not now: every string stays within the bytes.
TEST(gguf, strings_of_a_file_that_changed_stay_within_it) {
  std::vector<std::byte> bytes(3 * 8 + 5, std::byte{'x'});
  const steno::weights::stored_strings three(bytes, 3);
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{20}, std::uint64_t{21},
                                    std::uint64_t{22}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data(), &first, sizeof first);
    std::size_t count = 0;
    for (const std::string_view s : three) {
      const auto begin = reinterpret_cast<const std::byte*>(s.data()) - bytes.data();
      EXPECT_LE(static_cast<std::size_t>(begin) + s.size(), bytes.size()) << first;
      ++count;
    }
    EXPECT_EQ(count, 3u);
    EXPECT_EQ((*three.begin()).size(), std::min<std::uint64_t>(first, 21));
  }
}

TEST(gguf, settings_of_another_type_are_errors) {
  const gguf_file f((compact() / "gguf" / "sample.gguf").string());
  EXPECT_THROW(f.number("t.str_empty"), steno::error);
  EXPECT_THROW(f.number("a.i8"), steno::error);
  EXPECT_THROW(f.text("t.u8"), steno::error);
  EXPECT_THROW(f.strings("a.i8"), steno::error);
  EXPECT_THROW(f.string_views("a.i8"), steno::error);
  EXPECT_THROW(f.numbers("tokenizer.ggml.merges"), steno::error);
  EXPECT_THROW(f.numbers("t.u8"), steno::error);
  try {
    f.strings("tokenizer.ggml.pieces");
    FAIL();
  } catch (const steno::error& e) {
    EXPECT_NE(std::string(e.what()).find("key \"tokenizer.ggml.pieces\" is missing: expected an array of strings"),
              std::string::npos)
        << e.what();
  }
}

TEST(gguf, formats_that_steno_does_not_know_are_listed) {
  // iq1_m (29): 256 values in 56 bytes; the next tensor lies behind it.
  builder b;
  b.header(2, 0).tensor("odd", {256, 3}, 29, 0).tensor("w", {2, 3}, 0, 192).data(192 + 32);
  const gguf_file f = b.load();
  const auto t = f.find("odd");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->bytes.size(), 3u * 56);
  EXPECT_EQ(t->shape_text(), "[3 x 256]");
  EXPECT_EQ(steno::weights::format_name(t->format), "iq1_m");
  EXPECT_EQ(steno::core::info(t->format).elements, 0u);
  EXPECT_THROW(steno::weights::values_of(*t, f.where()), steno::error);
  EXPECT_EQ(steno::weights::values_of(*f.find("w"), f.where()).size(), 6u);
}

TEST(gguf, scalars_and_empty_tensors) {
  builder b;
  b.header(3, 0).tensor("none", {0, 4}, 0, 0).tensor("scalar", {}, 0, 0).tensor("v", {5}, 1, 32).data(64);
  const gguf_file f = b.load();
  EXPECT_TRUE(f.find("none")->bytes.empty());
  EXPECT_EQ(f.find("none")->shape_text(), "[4 x 0]");
  EXPECT_EQ(f.find("scalar")->rank, 0);
  EXPECT_EQ(f.find("scalar")->bytes.size(), 4u);
  EXPECT_EQ(f.find("v")->rows(), 1);
  EXPECT_EQ(f.find("v")->cols(), 5);
}

TEST(gguf, shapes_whose_product_overflows_are_refused) {
  constexpr std::int64_t huge = std::numeric_limits<steno::extent>::max() / 2 + 1;
  const std::string below = "below 2^" + std::to_string(std::numeric_limits<steno::extent>::digits);
  EXPECT_NE(builder().header(1, 0).tensor("w", {huge, 2}, 0, 0).data(64).message().find(below), std::string::npos);
  EXPECT_NE(builder().header(1, 0).tensor("w", {0, huge, huge}, 0, 0).data(64).message().find(below),
            std::string::npos);
  EXPECT_NE(builder()
                .header(1, 0)
                .tensor("w", {INT64_MAX}, 0, 0)
                .data(64)
                .message()
                .find(sizeof(steno::extent) == 8 ? "size of the data" : "dimension: expected up to 2147483647"),
            std::string::npos);
  EXPECT_NE(builder().header(1, 0).tensor("w", {huge / 4}, 0, 0).data(64).message().find("runs beyond the end"),
            std::string::npos);
}

TEST(gguf, a_file_without_tensors_needs_no_data) {
  builder b;
  b.header(0, 1).string("k").number(std::int32_t{9}).number(std::int32_t{8}).number(std::uint64_t{1}).string("x");
  const gguf_file f = b.load();
  EXPECT_EQ(f.size(), 0u);
  EXPECT_EQ(f.strings("k"), (std::vector<std::string>{"x"}));
}

TEST(gguf, messages_name_file_place_and_remedy) {
  EXPECT_EQ(builder().message(), "memory: not a GGUF file: expected the bytes \"GGUF\" at its start");
  builder big;
  big.s = std::string("GGUF\0\0\0\3", 8);
  EXPECT_EQ(big.message(), "memory: the GGUF file has big-endian byte order, which steno does not read");
  EXPECT_EQ(builder().header(1 << 20, 0).message(),
            "memory: number of tensors: expected 0 to 0 in a file of this size, found 1048576");
  EXPECT_EQ(builder().header(1, 0).tensor("a\nb", {3}, 8, 0).data(64).message(),
            "memory: byte 51: tensor \"a\\x0ab\": row length in q8_0: expected a multiple of 32, found 3");
  const std::string cut = builder().header(1, 0).tensor("w", {16}, 0, 0).data(60).message();
  EXPECT_NE(cut.find("the file may have been cut while it was copied"), std::string::npos) << cut;
}

TEST(gguf, tensors_of_another_file) {
  const std::string path = (compact() / "gguf" / "sample.gguf").string();
  const gguf_file sample(path);
  builder b;
  b.header(1, 0).tensor("own", {2}, 0, 0).data(32);
  // A file that has a tensor of another one, as `change` leaves its reference, `times` times.
  const auto with = [&](auto change, std::size_t times = 1,
                        steno::weights::file_reading how = steno::weights::file_reading::mapped) {
    gguf_file other(path, how), file = b.load();
    steno::weights::tensor_ref t = other.tensor(0);
    const std::string name = "of another file, under another name";  // which is copied
    t.name = name;
    change(t);
    file.borrow(std::move(other.mapping()), std::vector<steno::weights::tensor_ref>(times, t));
    return file;
  };
  const auto nothing = [](steno::weights::tensor_ref&) {};
  const gguf_file file = with(nothing);
  EXPECT_EQ(file.size(), 2u);
  EXPECT_FALSE(file.copied());
  const auto lent = file.find("of another file, under another name");
  ASSERT_TRUE(file.find("own") && lent);
  EXPECT_TRUE(same_bytes(lent->bytes, sample.tensor(0).bytes));
  file.release(*lent);  // pages come back when they are read
  file.release_mapped(*lent);
  file.release_mapped();
  EXPECT_TRUE(same_bytes(lent->bytes, sample.tensor(0).bytes));
  const gguf_file of_a_copy = with(nothing, 1, steno::weights::file_reading::copied);
  EXPECT_TRUE(of_a_copy.copied());
  of_a_copy.release_mapped(*of_a_copy.find(lent->name));  // which would be gone
  of_a_copy.release_mapped();
  EXPECT_TRUE(same_bytes(of_a_copy.find(lent->name)->bytes, lent->bytes));

  EXPECT_THROW(with(nothing, 2), steno::error);
  EXPECT_THROW(with([](steno::weights::tensor_ref& t) { t.name = "own"; }), steno::error);
  EXPECT_THROW(with([](steno::weights::tensor_ref& t) { t.shape[0] += 1; }), steno::error);  // more values than bytes
  const std::vector<std::byte> elsewhere(sample.tensor(0).bytes.size());
  EXPECT_THROW(with([&](steno::weights::tensor_ref& t) { t.bytes = elsewhere; }), steno::error);
}

// The same bytes in memory that the object owns.
TEST(gguf, a_file_in_memory_alone) {
  const gguf_file sample((compact() / "gguf" / "sample.gguf").string());
  steno::weights::mapped_file made("made", sample.bytes().size(), [&](std::span<std::byte> zeros) {
    std::copy(sample.bytes().begin(), sample.bytes().end(), zeros.begin());
  });
  gguf_file opened{std::move(made)};
  const gguf_file file = std::move(opened);
  EXPECT_EQ(file.where(), "made");
  EXPECT_TRUE(file.copied());
  ASSERT_EQ(file.size(), sample.size());
  for (std::size_t i = 0; i < file.size(); ++i)
    EXPECT_TRUE(same_bytes(file.tensor(i).bytes, sample.tensor(i).bytes)) << file.tensor(i).name;
  EXPECT_THROW(gguf_file(steno::weights::mapped_file("made", 100, [](std::span<std::byte>) {})), steno::error);
}

}  // namespace gguf_test
