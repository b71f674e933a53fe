// Every type of the headers is found by an editor: universal-ctags lists them, so no way of writing hides one from it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "sources.hpp"

namespace ctags_test {
namespace {

using steno::test::source;
using tag = std::pair<std::string, std::string>;  // a name and the file it stands in, relative to include/

// What a command prints; empty when it cannot be run.
std::string output_of(const std::string& command) {
  std::string all;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return all;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) all.append(part, n);
  return ::pclose(pipe) == 0 ? all : std::string{};
}

// Classes and structs that ctags finds below `directory`.
std::set<tag> tags_below(const std::filesystem::path& directory) {
  std::set<tag> all;
  const std::string lines =
      output_of("cd '" + directory.string() +
                "' && ctags -R --languages=C++ --langmap=C++:+.inl --kinds-C++=cs -f - . 2>/dev/null");
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (!line.starts_with('!') && second != std::string::npos) {
      std::string file = line.substr(first + 1, second - first - 1);
      if (file.starts_with("./")) file.erase(0, 2);
      all.emplace(line.substr(0, first), file);
    }
    at = end + 1;
  }
  return all;
}

// Definitions at namespace scope, which is not indented: `struct x {` and `class x : y`, not `class x;` nor what
// specialises another library's (`struct Eigen::...`).
std::vector<std::pair<std::string, std::size_t>> definitions(const std::string& text) {
  static const std::regex line(R"((?:^|\n)(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(\w+)([^\n]*))");
  std::vector<std::pair<std::string, std::size_t>> all;
  for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i)
    if (const std::string rest = (*i)[2];
        !rest.starts_with("::") && (rest.find(';') == std::string::npos || rest.find('{') != std::string::npos))
      all.emplace_back((*i)[1], steno::test::line_of(text, static_cast<std::size_t>(i->position(1))));
  return all;
}

}  // namespace

TEST(ctags, finds_every_type_of_the_headers) {
  if (!output_of("ctags --version 2>/dev/null").starts_with("Universal Ctags")) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "universal-ctags is not installed (tools/packages tests)";
    GTEST_SKIP() << "universal-ctags is not installed";
  }
  const std::set<tag> tags = tags_below(steno::test::include_directory());
  std::vector<std::string> missing;
  std::size_t looked = 0;
  for (const source& s : steno::test::headers())
    for (const auto& [name, at] : definitions(steno::test::code_only(s.text))) {
      ++looked;
      if (!tags.contains({name, s.name})) missing.push_back(s.name + ":" + std::to_string(at) + ": " + name);
    }
  EXPECT_GT(looked, 300u);
  EXPECT_TRUE(missing.empty()) << steno::test::joined(missing);
}

TEST(ctags, the_check_itself_knows_a_definition) {
  const auto found =
      definitions("class a;\nstruct b {};\n\nclass [[nodiscard]] c : public b {\n  struct inner {};\n};\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, "b");
  EXPECT_EQ(found[1].first, "c");
  EXPECT_EQ(found[1].second, 4u);
}

}  // namespace ctags_test
