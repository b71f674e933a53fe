// Arrows go down (docs/design.md): a header includes only its own wing and lower floors.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "sources.hpp"

namespace floors_test {
namespace {

using steno::test::source;

// Wings of one floor carry the same number and do not see each other.
const std::map<std::string, int, std::less<>> floors = {
    {"core", 1},       {"weights", 2},   {"kernels", 3},      {"layers", 4}, {"frontends", 4},
    {"tokenizers", 4}, {"search", 4},    {"segmentation", 4}, {"text", 4},   {"networks", 5},
    {"models", 6},     {"streaming", 7}, {"pipelines", 8},
};

// The folder of "steno/core/view.hpp" is "core"; that of "steno/error.hpp" is "" and lies below all others.
std::string wing(const std::string& name) {
  const std::size_t begin = std::string_view("steno/").size(), end = name.find('/', begin);
  return end == std::string::npos ? "" : name.substr(begin, end - begin);
}
std::optional<int> floor_of(const std::string& wing) {
  if (wing.empty()) return 0;
  const auto found = floors.find(wing);
  return found == floors.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> wrong_arrows(const std::vector<source>& sources) {
  std::vector<std::string> wrong;
  for (const source& s : sources) {
    if (s.name == "steno/steno.hpp") continue;  // the umbrella is above all floors
    const std::string from = wing(s.name);
    const auto from_floor = floor_of(from);
    if (!from_floor) {
      wrong.push_back(s.name + " lies in a folder that is no floor");
      continue;
    }
    for (const std::string& target : steno::test::includes(s.text)) {
      if (!target.starts_with("steno/")) continue;
      const std::string to = wing(target);
      const auto to_floor = floor_of(to);
      if (target == "steno/steno.hpp" || !to_floor || (to != from && *to_floor >= *from_floor))
        wrong.push_back(s.name + " includes " + target);
    }
  }
  return wrong;
}

}  // namespace

TEST(floors, arrows_go_down) {
  const auto sources = steno::test::headers();
  ASSERT_GT(sources.size(), 10u) << "the headers were not found";
  const auto wrong = wrong_arrows(sources);
  EXPECT_TRUE(wrong.empty()) << steno::test::joined(wrong);
}

TEST(floors, includes_name_existing_headers_in_angle_brackets) {
  const std::regex quoted(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*")");
  std::vector<std::string> wrong;
  for (const source& s : steno::test::headers()) {
    if (std::regex_search(s.text, quoted)) wrong.push_back(s.name + " includes in quotes");
    for (const std::string& target : steno::test::includes(s.text))
      // (what config.hpp says is missing ends the compiler)
      if (target.starts_with("steno/") && !target.starts_with("steno/needs_") &&
          !exists(steno::test::include_directory() / target))
        wrong.push_back(s.name + " includes " + target);
  }
  EXPECT_TRUE(wrong.empty()) << steno::test::joined(wrong);
}

TEST(floors, the_check_itself_finds_wrong_arrows) {
  const auto findings = [](std::string name, std::string target) {
    return wrong_arrows({{std::move(name), "#pragma once\n# include <" + target + ">\n"}}).size();
  };
  EXPECT_EQ(findings("steno/layers/linear.hpp", "steno/kernels/product.hpp"), 0u);
  EXPECT_EQ(findings("steno/layers/linear.hpp", "steno/layers/norm.hpp"), 0u);
  EXPECT_EQ(findings("steno/core/view.hpp", "steno/config.hpp"), 0u);
  EXPECT_EQ(findings("steno/pipelines/result.hpp", "vector"), 0u);
  EXPECT_EQ(findings("steno/core/view.hpp", "steno/weights/weight.hpp"), 1u);  // up
  EXPECT_EQ(findings("steno/layers/linear.hpp", "steno/search/ctc.hpp"), 1u);  // across
  EXPECT_EQ(findings("steno/error.hpp", "steno/core/view.hpp"), 1u);           // up from the ground
  EXPECT_EQ(findings("steno/core/view.hpp", "steno/steno.hpp"), 1u);           // the umbrella
  EXPECT_EQ(findings("steno/core/view.hpp", "steno/attic/old.hpp"), 1u);       // no such floor
  EXPECT_EQ(findings("steno/attic/old.hpp", "steno/config.hpp"), 1u);
}

}  // namespace floors_test
