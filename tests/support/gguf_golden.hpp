// The golden GGUF files: their damaged variants and the comparison of a file with its expected.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <npy.hpp>
#include <sstream>
#include <string>
#include <support/golden.hpp>
#include <vector>

namespace steno::test {

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

/// One line of broken.txt: edits "@OFFSET=HEX; ...", "truncate to N" or "-".
struct damaged_variant {
  int number = 0;
  std::string what, edits;
  bool accepted_by_ggml = false;

  std::vector<std::byte> apply(std::vector<std::byte> bytes) const {
    const std::string_view truncate = "truncate to ";
    if (edits.starts_with(truncate)) {
      bytes.resize(std::stoul(edits.substr(truncate.size())));
      return bytes;
    }
    for (std::size_t at = 0; (at = edits.find('@', at)) != std::string::npos; ++at) {
      const std::size_t equals = edits.find('=', at);
      std::size_t offset = std::stoul(edits.substr(at + 1));
      for (std::size_t i = equals + 1; i + 1 < edits.size() && edits[i] != ';'; i += 2) {
        int value = -1;
        std::from_chars(edits.data() + i, edits.data() + i + 2, value, 16);
        EXPECT_GE(value, 0) << edits;
        bytes.at(offset++) = static_cast<std::byte>(value);
      }
    }
    return bytes;
  }
};

inline std::vector<damaged_variant> damaged_variants(const std::filesystem::path& list) {
  std::vector<damaged_variant> result;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    damaged_variant v;
    std::string number, verdict;
    std::getline(columns, number, '\t');
    std::getline(columns, v.what, '\t');
    std::getline(columns, v.edits, '\t');
    std::getline(columns, verdict, '\t');
    v.number = std::stoi(number);
    v.accepted_by_ggml = verdict == "ACCEPTED";
    result.push_back(v);
  }
  return result;
}

/// The value as JSON, decoded by its exact type.
inline nlohmann::json as_json(const weights::gguf_value& v) {
  if (v.is_array() && v.element == weights::gguf_type::string) return *v.strings();
  nlohmann::json j;
  weights::detail::with_number_type(v.is_array() ? v.element : v.type, [&](auto sample) {
    using T = decltype(sample);
    if (!v.is_array()) {
      j = *v.get<T>();
      return;
    }
    j = nlohmann::json::array();
    const auto elements = *v.array_of<T>();
    for (const T x : elements) {
      if constexpr (std::is_same_v<T, bool>)
        j.push_back(x ? 1 : 0);
      else
        j.push_back(x);
    }
  });
  if (v.type == weights::gguf_type::string) j = std::string(*v.text());
  return j;
}

/// Compares every key, value, tensor shape, offset and size with expected.json.
inline void expect_gguf(const gguf_file& f, const std::filesystem::path& expected) {
  const auto want = nlohmann::json::parse(std::ifstream(expected));
  EXPECT_EQ(f.version(), want["version"].get<std::uint32_t>());
  EXPECT_EQ(f.alignment(), want["alignment"].get<std::uint32_t>());
  ASSERT_EQ(f.values().size(), want["kv"].size());
  for (std::size_t i = 0; i < f.values().size(); ++i) {
    const weights::gguf_value& v = f.values()[i];
    const auto& w = want["kv"][i];
    ASSERT_EQ(v.key, w["key"].get<std::string>());
    EXPECT_EQ(f.value(v.key), &v);
    EXPECT_EQ(static_cast<int>(v.type), w["type_id"].get<int>()) << v.key;
    EXPECT_EQ(static_cast<int>(v.element), w.value("elem_type_id", w["type_id"].get<int>())) << v.key;
    EXPECT_EQ(as_json(v), w["value"]) << v.key;
  }
  ASSERT_EQ(f.size(), want["tensors"].size());
  const std::byte* data = f.tensor(0).bytes.data();
  for (std::size_t i = 0; i < f.size(); ++i) {
    const weights::tensor_ref t = f.tensor(i);
    const auto& w = want["tensors"][i];
    ASSERT_EQ(t.name, w["name"].get<std::string>());
    EXPECT_EQ(static_cast<int>(t.format), w["ggml_type"].get<int>()) << t.name;
    const auto shape = w["numpy_shape"].get<std::vector<extent>>();
    EXPECT_EQ(std::vector<extent>(t.shape.begin(), t.shape.begin() + t.rank), shape) << t.name;
    EXPECT_EQ(t.bytes.size(), w["nbytes"].get<std::size_t>()) << t.name;
    EXPECT_EQ(t.bytes.data() - data, w["offset"].get<std::ptrdiff_t>()) << t.name;
    const auto found = f.find(t.name);
    ASSERT_TRUE(found) << t.name;
    EXPECT_EQ(found->bytes.data(), t.bytes.data());
  }
}

}  // namespace steno::test
