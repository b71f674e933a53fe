// The small files of tests/convert/fixtures (made by make_fixtures.py).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno::test {

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(STENO_SOURCE_DIR) / "tests" / "convert" / "fixtures" / name;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  ASSERT_TRUE(out.flush()) << path;
}

/// `name` with a number before it, another one each time: Windows does not replace a file that is open.
inline std::string new_name(const std::string& name) {
  static int number = 0;
  return std::to_string(++number).append("-").append(name);
}

/// A message whose names of files have the slashes of every other system.
inline std::string with_slashes(std::string text) {
#if defined(_WIN32)
  std::replace(text.begin(), text.end(), '\\', '/');
#endif
  return text;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline nlohmann::json read_json(const std::filesystem::path& path) { return nlohmann::json::parse(read_text(path)); }

/// The message of the steno::error that `f` throws; a test failure when it throws none.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const steno::error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no steno::error was thrown";
  return {};
}

}  // namespace steno::test
