// A folder and a file in it that is written as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <steno/weights/atomic_file.hpp>
#include <string>
#include <support/golden.hpp>

namespace steno::test {

namespace fs = std::filesystem;
using weights::atomic_file;

inline constexpr auto both = {atomic_file::scratch::nameless, atomic_file::scratch::named};

class atomic_files : public testing::Test {
 protected:
  fs::path target() const { return directory.path() / "model.gguf"; }
  void put(const fs::path& path, std::string_view text) const { std::ofstream(path) << text; }
  std::string content() const {
    std::ifstream in(target());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& e : fs::directory_iterator(directory.path())) all.insert(e.path().filename().string());
    return all;
  }
  void write(std::string_view text, atomic_file::scratch kind) const {
    atomic_file out(target().string(), kind);
    out.write(std::as_bytes(std::span(text.data(), text.size())));
    out.commit();
  }
  const temporary_directory directory;
};

}  // namespace steno::test
