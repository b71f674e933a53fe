// Where the golden data lies: the full set in STENO_SHARED (or ../shared beside the project), the compact set in
// tests/golden. Under CI=true a missing full set is a failure, elsewhere the tests that need it are skipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>

namespace steno::test {

inline std::optional<std::filesystem::path> shared() {
  const char* named = std::getenv("STENO_SHARED");
  const std::filesystem::path p =
      named != nullptr ? std::filesystem::path(named) : std::filesystem::path(STENO_SOURCE_DIR) / ".." / "shared";
  if (std::filesystem::is_directory(p / "golden")) return p;
  return std::nullopt;
}

inline std::filesystem::path compact() { return std::filesystem::path(STENO_SOURCE_DIR) / "tests" / "golden"; }

inline bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

/// How many files and folders lie in one.
inline std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// A copy of a folder that may be written to, whatever the original allows. (Windows asks each file when it is
/// removed.)
inline void copy_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  fs::copy(from, to, fs::copy_options::recursive);
  fs::permissions(to, fs::perms::owner_all, fs::perm_options::add);
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(to))
    fs::permissions(e.path(), e.is_directory() ? fs::perms::owner_all : fs::perms::owner_write, fs::perm_options::add);
}

/// A directory that is removed at the end.
class temporary_directory {
 public:
  temporary_directory() {
    std::random_device random;
    do path_ = std::filesystem::temp_directory_path() / ("steno-test-" + std::to_string(random()));
    while (!std::filesystem::create_directory(path_));
  }
  temporary_directory(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace steno::test

/// Names the shared folder, or skips (fails under CI=true) when this clone stands alone.
#define STENO_REQUIRE_SHARED(name)                                                                                 \
  if (!::steno::test::shared() && ::steno::test::in_ci()) FAIL() << "shared golden data is missing under CI=true"; \
  if (!::steno::test::shared()) GTEST_SKIP() << "needs the full golden set (STENO_SHARED)";                        \
  const std::filesystem::path name = *::steno::test::shared()
