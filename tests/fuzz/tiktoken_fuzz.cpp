// A table of tiktoken, then an empty line and a text: any bytes are refused with steno::error, or give tokens that cut
// the text, and words of them.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/byte_bpe.hpp>
#include <steno/tokenizers/byte_words.hpp>

#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "tiktoken.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all = text_of(data, size);
  const std::size_t end = std::min(all.find("\n\n"), all.size());
  static const scratch_folder at;
  at.write("multilingual.tiktoken", all.substr(0, end));
  const std::string_view text = all.substr(std::min(end + 2, all.size()));
  read_or_refuse([&] {
    const std::vector<std::string> letters = steno::read_tiktoken(at.path() / "multilingual.tiktoken", 1000);
    require(letters.size() <= 1000);
    const steno::tokenizers::byte_bpe tokens(letters);
    std::vector<steno::tokenizers::timed_piece> pieces;
    for (const int id : tokens.encode(text)) {
      require(id >= 0 && id < tokens.size());
      const double t = static_cast<double>(pieces.size());
      pieces.push_back({tokens.bytes(id), t, t + 1, -1});
    }
    for (const steno::word& w : steno::tokenizers::join_byte_words(pieces)) {
      require(!w.text.empty() && w.start <= w.end);
      require(w.confidence > 0 && w.confidence <= 1);
    }
  });
  return 0;
}
