// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <steno/error.hpp>

#include "content.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace safetensors_test {

using namespace steno;

std::vector<std::byte> file_of(const std::string& header, std::size_t data, std::uint64_t claimed = 0) {
  const std::uint64_t length = claimed != 0 ? claimed : header.size();
  std::vector<std::byte> bytes(8 + header.size() + data);
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  for (std::size_t i = 0; i < data; ++i) bytes[8 + header.size() + i] = static_cast<std::byte>(i);
  return bytes;
}

std::string refusal(const std::string& header, std::size_t data, std::uint64_t claimed = 0) {
  const auto bytes = file_of(header, data, claimed);
  try {
    const safetensors_file f(bytes, "x.safetensors");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(safetensors, tensors_of_a_file) {
  const auto bytes =
      file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},)"
              R"("n":{"dtype":"I64","shape":[1],"data_offsets":[12,20]},)"
              R"("s":{"dtype":"F32","shape":[],"data_offsets":[20,24]}})",
              24);
  const safetensors_file f(bytes, "x");
  ASSERT_EQ(f.tensors().size(), 3u);
  const stored_tensor& a = f.tensors()[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.shape, (std::vector<extent>{2, 3}));
  EXPECT_EQ(a.stored, dtype::f16);
  EXPECT_EQ(a.bytes.size(), 12u);
  std::vector<float> values(6);
  a.read(values);
  EXPECT_EQ(values[1], 0x302p-24f);  // bytes 2, 3: a half below the normal ones
  EXPECT_TRUE(f.tensors()[1].bytes.empty());
  std::vector<float> one(1);
  f.tensors()[1].read(one);
  EXPECT_EQ(one[0], static_cast<float>(0x131211100f0e0d0cu));
  EXPECT_EQ(f.tensors()[2].count(), 1u);
}

// The length of the header begins as a pickle does, or as a zip archive.
TEST(safetensors, a_header_of_any_length_is_not_taken_for_a_torch_file) {
  const test::temporary_directory to;
  const auto write = [&](const std::string& name, const std::vector<std::byte>& bytes) {
    std::ofstream(to.path() / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return to.path() / name;
  };
  for (const std::size_t length : {0x80u, 0x280u, 0x480u, 0x4b50u, 0x10280u}) {
    std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    header.resize(length, ' ');
    EXPECT_FALSE(is_torch_file(write("model.safetensors", file_of(header, 4)))) << length;
  }
  const auto text = [&](std::string_view bytes) {
    std::vector<std::byte> all(bytes.size());
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return write("model.bin", all);
  };
  using namespace std::string_view_literals;
  EXPECT_TRUE(is_torch_file(text("PK\x03\x04\0\0\x08\x08\0\0\0\0"sv)));
  EXPECT_TRUE(is_torch_file(text("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."sv)));
  EXPECT_TRUE(is_torch_file(text("\x80\x04\x95\x0b\0\0\0\0\0\0\0}\x94."sv)));
  EXPECT_TRUE(is_torch_file(text("\x80\x02}."sv)));
  EXPECT_FALSE(is_torch_file(text("{}"sv)));
  EXPECT_FALSE(is_torch_file(to.path()));
}

TEST(safetensors, damage_is_named) {
  const auto entry = [](const char* rest) { return std::string(R"({"w":{"dtype":"F32",)") + rest + "}}"; };
  EXPECT_NE(refusal("{}", 0, 1u << 30).find("header"), std::string::npos);
  EXPECT_NE(refusal("[1]", 0).find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[1])"), 4).find("not complete"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[2],"data_offsets":[0,8])"), 4).find("outside"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[1],"data_offsets":[4,0])"), 4).find("outside"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[-1],"data_offsets":[0,4])"), 4).find("shape"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[2],"data_offsets":[0,4])"), 4).find("does not fit"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4).find("too large"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"w":{"dtype":"F4","shape":[1],"data_offsets":[0,4]}})", 4).find("F4"), std::string::npos);
  EXPECT_NE(refusal(std::string(100000, '['), 0).find("levels of nested JSON"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])"), 4).find("9 dimensions"),
            std::string::npos);
  const std::vector<std::byte> tiny(3);
  EXPECT_THROW(safetensors_file(tiny, "x"), error);
}

// As the reference: the tensors lie side by side and fill the file.
TEST(safetensors, tensors_that_share_bytes_or_leave_some_are_refused) {
  const auto two = [](const char* a, const char* b) {
    return std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + a +
           R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}";
  };
  EXPECT_EQ(refusal(two("[4,8]", "[0,4]"), 8), "");
  EXPECT_EQ(refusal(two("[0,4]", "[0,4]"), 4),
            "x.safetensors: tensor \"b\": its data is also another tensor's: expected offset 4, found 0");
  EXPECT_NE(refusal(two("[0,4]", "[2,6]"), 6).find("tensor \"b\": its data is also another tensor's"),
            std::string::npos);
  EXPECT_NE(refusal(two("[0,4]", "[8,12]"), 12).find("tensor \"b\": before its data is a hole"), std::string::npos);
  EXPECT_NE(refusal(two("[0,4]", "[4,8]"), 12).find("expected 12 as behind the header, found 8"), std::string::npos);
}

// Time in proportion to the header: 20,000 tensors took 4 s when every tensor's end looked through all before it.
TEST(safetensors, many_tensors_are_read_in_one_pass_and_more_are_refused) {
  const auto header = [](std::size_t tensors) {
    std::string text = "{";
    for (std::size_t i = 0; i < tensors; ++i)
      text.append(i == 0 ? "\"t" : ",\"t")
          .append(std::to_string(i))
          .append(R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})");
    return text + "}";
  };
  const auto bytes = file_of(header(60000), 0);
  EXPECT_EQ(safetensors_file(bytes, "x").tensors().size(), 60000u);
  EXPECT_EQ(refusal(header(65537), 0), "x.safetensors: tensors of the file: expected up to 65536, found 65537");
  EXPECT_NE(refusal(header(1) + std::string(std::size_t{17} << 20, ' '), 0).find("header is too long"),
            std::string::npos);
}

}  // namespace safetensors_test
