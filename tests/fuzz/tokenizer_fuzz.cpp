// Text and vocabularies of a language model: the lines before the first empty one are tokens, what follows is a text.
// Any vocabulary is refused with steno::error, or cuts any text into tokens of it.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/aligned_words.hpp>
#include <steno/tokenizers/punctuated_words.hpp>
#include <steno/tokenizers/qwen_tokens.hpp>
#include <steno/tokenizers/sentencepiece.hpp>
#include <steno/tokenizers/unicode_nfc.hpp>

#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

namespace {
void check(const std::vector<int>& ids, int size) {
  for (const int id : ids) require(id >= 0 && id < size);
}

std::vector<std::string> tokens_of(std::string_view& text) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) break;
    tokens.emplace_back(line);
  }
  return tokens;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = text_of(data, size);
  const std::vector<std::string> tokens = tokens_of(text);
  const std::string composed = steno::tokenizers::unicode::nfc(text);
  require(composed.size() <= 12 * text.size());
  (void)steno::tokenizers::split_words(text);
  (void)steno::tokenizers::aligned_words(text);
  (void)steno::tokenizers::aligned_korean_words(text, tokens);
  (void)steno::tokenizers::aligned_japanese_words(text);
  read_or_refuse([&] {
    const steno::tokenizers::byte_bpe bytes(tokens);
    const std::vector<int> ids = bytes.encode(text);
    check(ids, bytes.size());
    require(bytes.decode(ids).size() <= text.size());
  });
  read_or_refuse([&] {
    std::vector<int> types(tokens.size(), 1);
    for (std::size_t i = 0; i < types.size(); i += 3) types[i] = 3;
    const steno::tokenizers::qwen_tokens qwen(tokens, types);
    check(qwen.encode(text), qwen.size());
  });
  if (text.size() > 300) return 0;  // slow: for phrases
  for (const bool merges : {false, true}) {
    steno::tokenizers::sentencepiece_vocabulary v;
    v.pieces = tokens;
    v.types.assign(tokens.size(), 1);
    for (std::size_t i = 0; i < tokens.size(); ++i) v.scores.push_back(-static_cast<float>(merges ? i : i % 7));
    const steno::tokenizers::sentencepiece pieces(std::move(v));
    if (const auto ids = pieces.split(text)) {
      check(*ids, pieces.size());
      (void)pieces.decode(*ids);
    }
  }
  return 0;
}
