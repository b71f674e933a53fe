// steno/models/qwen_vocabulary.hpp - the tokenizer of models that write as Qwen does, from a packaged file, how
// long the text of a prompt may be, and which hotwords stand in it.
//
// Tested in tests/models/qwen3_asr_test.cpp and tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/hotword.hpp>
#include <steno/models/metadata.hpp>
#include <steno/tokenizers/qwen_tokens.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// From tokenizer.ggml.tokens and token_type. Throws steno::error.
STENO_ON_CALL STENO_COLD inline tokenizers::qwen_tokens read_qwen_tokens(const gguf_file& file) {
  const weights::stored_strings tokens = models::stored_tokens(file);
  std::vector<int> types;
  if (file.has("tokenizer.ggml.token_type")) types = models::read_token_types(file);
  if (!types.empty() && types.size() != tokens.size())
    fail({.where = file.where(),
          .what = "key \"tokenizer.ggml.token_type\"",
          .expected = std::to_string(tokens.size()) + " numbers, as many as tokenizer.ggml.tokens",
          .found = std::to_string(types.size())});
  return models::made_of(file, "tokenizer.ggml.tokens", [&] { return tokenizers::qwen_tokens(tokens, types); });
}

/// The largest numbers of bytes and tokens of text beside the audio: a page of names for a context, three minutes of
/// words to align. All rows of a prompt see each other, so that time grows with the square of its length.
inline constexpr std::size_t max_prompt_bytes = 1 << 16, max_prompt_tokens = 8192;

/// Whether hotwords stand in the prompt: lists of up to 4 KiB do. A longer one would take more time than the audio, and
/// is favoured alone.
STENO_COLD inline bool hotwords_in_prompt(std::span<const core::hotword> hotwords) noexcept {
  constexpr std::size_t limit = 4096;
  std::size_t bytes = 0;
  for (const core::hotword& h : hotwords) bytes += h.phrase.size() + 2;
  return bytes <= limit;
}
/// Adds them to the text of a prompt, if they are to stand there.
STENO_COLD inline void add_hotwords(std::string& prompt, std::span<const core::hotword> hotwords) {
  if (!hotwords_in_prompt(hotwords)) return;
  for (const core::hotword& h : hotwords) prompt.append(prompt.empty() ? "" : ", ").append(h.phrase);
}

/// Throws steno::error when a text is longer; `what` names it.
STENO_COLD inline void check_prompt_text(std::string_view what, std::string_view text) {
  if (text.size() <= max_prompt_bytes) return;
  fail({.what = std::string(what),
        .expected = "up to " + std::to_string(max_prompt_bytes) + " bytes",
        .found = std::to_string(text.size())});
}
/// The same of its tokens.
STENO_COLD inline void check_prompt_tokens(std::string_view what, std::size_t tokens) {
  if (tokens <= max_prompt_tokens) return;
  fail({.what = std::string(what),
        .expected = "up to " + std::to_string(max_prompt_tokens) + " tokens",
        .found = std::to_string(tokens)});
}

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno
