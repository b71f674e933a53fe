// A text and words (its lines: the text first) that a model's vocabulary may have made of anything, with times and
// speakers from the words' bytes: places lie in order, pieces between cuts are the text, and so are the segments that
// the change of speakers leaves, joined as results are.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/speaker_attribution.hpp>
#include <steno/text/words_in_text.hpp>

#include <algorithm>
#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view lines = text_of(data, std::min<std::size_t>(size, 4096));
  std::vector<std::string> all;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    all.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  if (all.empty()) return 0;
  steno::segment s;
  s.text = all[0];
  s.end = 100;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double start = static_cast<double>(i), length = static_cast<double>(all[i].size() % 3) / 2;
    s.words.push_back({.text = all[i], .start = start, .end = start + length, .how = steno::timing::native});
  }
  const auto places = steno::text::words_in_text(s.text, s.words);
  require(places.empty() || places.size() == s.words.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    require(places[i].cut >= at && places[i].cut <= places[i].begin && places[i].begin < places[i].end);
    require(s.text.compare(places[i].begin, places[i].end - places[i].begin, s.words[i].text) == 0);
    at = places[i].end;
  }
  require(at <= s.text.size());

  steno::pipelines::speaker_attribution who(3, 1);
  std::vector<float> row(3);
  for (std::size_t i = 0; i <= all.size(); ++i) {
    const std::string& by = all[std::min(i, all.size() - 1)];
    std::fill(row.begin(), row.end(), 0.0f);
    row[by.empty() ? 0 : static_cast<unsigned char>(by.back()) % 3] = 0.9f;
    who.push(steno::core::make_view(static_cast<const float*>(row.data()), 1, 3));
  }
  const std::string text = s.text;
  const std::size_t words = s.words.size();
  who.finish();
  who.add(std::move(s));
  std::string joined;
  std::size_t found = 0;
  who.take([&](const steno::segment& part) {
    steno::pipelines::append_text(joined, part.text);
    found += part.words.size();
    require(part.start <= part.end);
  });
  require(joined == text && found == words);
  return 0;
}
