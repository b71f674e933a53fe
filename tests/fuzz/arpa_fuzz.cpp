// ARPA language models: any text is refused with steno::error, or gives a model in which any words can be followed; and
// so do any tables of a packaged one.
// SPDX-License-Identifier: Apache-2.0
#include "language/arpa.hpp"

#include <cmath>
#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

namespace {

void follow(const steno::search::ngram& m) {
  std::uint32_t state = m.start();
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < m.words() && i < 100; ++i) {
      std::uint64_t word = steno::search::ngram::no_word;
      for (const char c : m.tables().words[i]) word = steno::search::ngram::spelled(word, c);
      require(std::isfinite(m.follow(state, word)));
      require(state <= m.size());
      require(std::isfinite(m.finish(state)));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  std::optional<steno::search::ngram_tables> tables;
  read_or_refuse([&] {
    std::vector<std::string> notes;
    tables = steno::language_files::read_arpa(text, "input", notes);
    follow(steno::search::ngram(*tables));
  });
  if (!tables || size < 4) return 0;
  // The same tables with numbers that a damaged file may have.
  read_or_refuse([&] {
    steno::search::ngram_tables t = *tables;
    const std::size_t at = (data[0] | data[1] << 8) % t.word.size();
    const auto value = static_cast<std::uint32_t>(data[2] | data[3] << 8);
    if (data[0] % 3 == 0) t.word[at] = value;
    if (data[0] % 3 == 1) t.first_child[at] = value;
    if (data[0] % 3 == 2) t.backoff[at] = static_cast<float>(value) - 32768;
    follow(steno::search::ngram(std::move(t)));
  });
  return 0;
}
