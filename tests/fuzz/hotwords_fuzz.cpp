// Lists of phrases to favour: the lines before the first empty one are units, the others phrases. Any list becomes a
// graph whose states and bonuses can be followed through all of its phrases.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/hotword_automaton.hpp>
#include <steno/tokenizers/wenet_units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = text_of(data, std::min<std::size_t>(size, 4096));
  std::vector<std::string> units, lines;
  for (bool in_units = true; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty())
      in_units = false;
    else
      (in_units ? units : lines).push_back(line);
  }
  for (const bool pieces : {false, true}) {
    const steno::tokenizers::wenet_units known(units, pieces);
    std::vector<std::vector<int>> phrases;
    for (const std::string& line : lines) {
      const auto ids = known.split(line);
      if (!ids) continue;
      for (const int id : *ids) require(id >= 0 && id < known.size());
      phrases.push_back(*ids);
    }
    for (const auto rules : {steno::search::hotword_rules::runtime, steno::search::hotword_rules::training}) {
      const steno::search::hotword_automaton graph(phrases, {.rules = rules, .score = 3, .increment = 0.5f});
      int state = 0;
      float earned = 0;
      std::vector<int> matched;
      for (const auto& phrase : phrases)
        for (const int unit : phrase) {
          const auto [to, bonus] = graph.next(state, unit, &matched);
          state = to;
          earned += bonus;
          require(std::isfinite(earned));
          graph.continuations(state, [&](const steno::search::hotword_automaton::continuation& c) {
            require(c.unit >= 0 && c.unit < known.size() && std::isfinite(c.bonus));
          });
        }
      require(std::isfinite(graph.finish(state, earned)));
      for (const int n : matched) require(n >= 0 && static_cast<std::size_t>(n) < phrases.size());
    }
  }
  return 0;
}
