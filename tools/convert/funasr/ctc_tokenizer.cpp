// tools/convert/funasr/ctc_tokenizer.cpp - see ctc_tokenizer.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/ctc_tokenizer.hpp"

#include <steno/tokenizers/whisper_languages.hpp>

#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

std::vector<std::string> ctc_special_tokens(std::uint32_t languages, std::uint32_t count) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (names.size() < count) names.push_back(std::string("<|").append(name).append("|>"));
  };
  add("endoftext");
  add("startoftranscript");
  std::uint32_t left = languages;  // Whisper's, and five more
  for (const tokenizers::whisper_language& l : tokenizers::whisper_languages)
    if (left > 0) add(l.code), --left;
  for (const char* name : {"minnan", "wuyu", "dialect", "zh/en", "en/zh"})
    if (left > 0) add(name), --left;
  for (const char* name :
       {"ASR",      "AED",       "SER",        "Speech",    "/Speech",     "BGM",      "/BGM",
        "Laughter", "/Laughter", "Applause",   "/Applause", "HAPPY",       "SAD",      "ANGRY",
        "NEUTRAL",  "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"})
    add(name);
  for (int i = 1; i <= 50; ++i) add("SPECIAL_TOKEN_" + std::to_string(i));
  return names;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
