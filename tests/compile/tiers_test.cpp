// `steno::` itself is small: it holds the names that docs/stability.md lists and promises, and its namespaces, no more
// than 60 in all. Everything else lies in the namespace of its folder or of its family.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "sources.hpp"

namespace tiers_test {
namespace {

using steno::test::source;
using names = std::set<std::string>;

// Names that universal-ctags finds in `steno::` itself below `directory`; it knows no concepts, and a macro from a
// function by its name alone.
names listed_by_ctags(const std::filesystem::path& directory) {
  names all;
  const std::string command = "cd '" + directory.string() +
                              "' && ctags -R -x --languages=C++ --langmap=C++:+.inl --kinds-C++=cefgnstuvp"
                              " -I STENO_MODEL_FUNCTIONS+ --_xformat='%s|%N|' . 2>/dev/null";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return all;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string_view l = line;
    const std::size_t first = l.find('|'), second = l.find('|', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view scope = l.substr(0, first), name = l.substr(first + 1, second - first - 1);
    if ((scope == "steno" || scope == "steno::STENO_ABI") && name != "STENO_ABI" && !name.starts_with("operator"))
      all.emplace(name);
  }
  return ::pclose(pipe) == 0 ? all : names{};
}

// Concepts outside of every namespace but the two that each header opens.
void add_concepts(const std::string& text, names& all) {
  static const std::regex line(R"((?:^|\n)(?:(?:inline )?namespace ([\w:]+) \{|(\})  // namespace|concept (\w+) =))");
  std::vector<std::string> open;
  for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i) {
    if ((*i)[1].matched) open.push_back((*i)[1]);
    if ((*i)[2].matched && !open.empty()) open.pop_back();
    if ((*i)[3].matched && open == std::vector<std::string>{"steno", "STENO_ABI"}) all.insert((*i)[3]);
  }
}

// The names in backquotes of the section of docs/stability.md.
names promised() {
  const std::string text = steno::test::slurp(steno::test::include_directory().parent_path() / "docs/stability.md");
  const std::string title = "\n## Names in `steno::`\n";
  const std::size_t begin = text.find(title);
  if (begin == std::string::npos) return {};
  const std::string part = text.substr(begin + title.size(), text.find("\n## ", begin + 1) - begin - title.size());
  static const std::regex quoted("`(\\w+)`");
  names all;
  for (std::sregex_iterator i(part.begin(), part.end(), quoted), end; i != end; ++i) all.insert((*i)[1]);
  return all;
}

std::string difference(const names& a, const names& b) {
  std::string all;
  for (const std::string& n : a)
    if (!b.contains(n)) all.append(" ").append(n);
  return all;
}

}  // namespace

TEST(tiers, steno_holds_what_is_promised_and_no_more_than_60_names) {
  names found = listed_by_ctags(steno::test::include_directory());
  if (found.empty()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "universal-ctags is not installed (tools/packages tests)";
    GTEST_SKIP() << "universal-ctags is not installed";
  }
  for (const source& s : steno::test::headers()) add_concepts(steno::test::code_only(s.text), found);
  EXPECT_LE(found.size(), 60u);
  EXPECT_EQ(difference(found, promised()), "") << "in steno::, and not in docs/stability.md";
  EXPECT_EQ(difference(promised(), found), "") << "in docs/stability.md, and not in steno::";
}

TEST(tiers, the_check_itself_knows_a_concept) {
  names found;
  add_concepts(
      "namespace steno {\ninline namespace STENO_ABI {\n\nnamespace nn {\ntemplate <class L>\nconcept layer = true;\n"
      "}  // namespace nn\n\ntemplate <class M>\nconcept recogniser = true;\n\n}  // namespace STENO_ABI\n",
      found);
  EXPECT_EQ(found, names{"recogniser"});
}

}  // namespace tiers_test
