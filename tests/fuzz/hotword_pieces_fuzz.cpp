// Hotwords with a dictionary from anywhere: lines of it, and a phrase behind the last one. Ids are those of the
// vocabulary, and there is no more of them than bytes in the phrase times pieces in the longest entry.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/hotword_pieces.hpp>

#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::vector<std::string> tokens = {"<blank>", "<s>", "</s>", "\xe5\x8c\x97", "fe@@", "llow", "<unk>"};
  std::string_view text = text_of(data, size);
  std::vector<std::string> lines;
  std::size_t longest = 1;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    lines.emplace_back(text.substr(0, end));
    longest = std::max(longest, end);
  }
  for (const bool dictionary : {true, false})
    read_or_refuse([&] {
      const steno::tokenizers::hotword_pieces pieces(
          tokens, dictionary ? std::optional<std::vector<std::string>>(lines) : std::nullopt);
      const std::vector<int> ids = pieces.split(text);
      require(ids.size() <= text.size() * longest);
      for (const int id : ids) require(id >= 0 && id < static_cast<int>(tokens.size()));
      require(pieces.split(text) == ids);
    });
  return 0;
}
