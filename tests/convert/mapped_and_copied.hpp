// tests/convert/mapped_and_copied.hpp - a checkpoint whose tensors stay in its mapped file beside one that is copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "convert.hpp"

namespace steno::test {

/// A converted checkpoint as the packaged file that it is now.
inline std::vector<std::byte> image_of(const opened_checkpoint& c) {
  return {c.file.bytes().begin(), c.file.bytes().end()};
}

/// Both hold the same tensors, and the mapped one needs less memory of its own.
inline void expect_mapped_like_copied(const std::filesystem::path& path) {
  SCOPED_TRACE(path.filename().string());
  const opened_checkpoint mapped = open_checkpoint(path);
  const opened_checkpoint copied = open_checkpoint(path, weights::file_reading::copied);
  EXPECT_LT(mapped.file.bytes().size(), copied.file.bytes().size());
  ASSERT_EQ(mapped.file.size(), copied.file.size());
  for (std::size_t i = 0; i < copied.file.size(); ++i) {
    const weights::tensor_ref a = copied.file.tensor(i);
    const auto b = mapped.file.find(a.name);
    ASSERT_TRUE(b) << a.name;
    EXPECT_EQ(b->shape_text() + weights::format_name(b->format), a.shape_text() + weights::format_name(a.format));
    EXPECT_TRUE(std::equal(b->bytes.begin(), b->bytes.end(), a.bytes.begin(), a.bytes.end())) << a.name;
  }
}

}  // namespace steno::test
