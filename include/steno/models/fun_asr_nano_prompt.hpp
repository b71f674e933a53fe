// steno/models/fun_asr_nano_prompt.hpp - what Fun-ASR-Nano shall do with a recording, as a text in Chinese.
//
// `get_prompt` (funasr/models/fun_asr_nano/model.py). The names of the languages are those of the model's README.
// Tested in tests/models/fun_asr_nano_test.cpp and tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/dtype.hpp>
#include <steno/core/text_ref.hpp>
#include <steno/search/hotword_automaton.hpp>
#include <steno/search/token_choice.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Wishes for one call of recognise().
struct fun_asr_nano_options {
  std::string language = {};                  ///< a code, or a name for the prompt; empty or "auto": none is named
  bool itn = true;                            ///< digits and punctuation; false: the prompt wants none
  std::vector<std::string> hotwords = {};     ///< part of the prompt
  int max_new_tokens = 512;                   ///< tokens of the text, no more
  search::token_sampling sampling = {};       ///< greedy, as the original
  std::optional<dtype> cache = std::nullopt;  ///< of keys and values; none: what suits the weights
  /// A pattern of words comes no more than so many times in a row, and circles end the writing; 0: as it comes.
  int max_repeats = 3;
  bool word_timestamps = true;                          ///< times of words, by the CTC head where the file has one
  core::text_ref writing = {};                          ///< takes the text so far behind each token
  const search::hotword_automaton* favoured = nullptr;  ///< phrases to favour, beside the prompt; null: none
  std::span<const int> earlier = {};                    ///< tokens of a text that this one may repeat: written faster
};

/// A language of the multilingual model and its name in the prompt.
struct fun_asr_nano_language {
  std::string_view code;  ///< "en"
  std::string_view name;  ///< in Chinese
};
/// In the order of FunASR's list; the first three are Fun-ASR-Nano's own.
inline constexpr fun_asr_nano_language fun_asr_nano_languages[] = {
    {"zh", "\xe4\xb8\xad\xe6\x96\x87"},
    {"en", "\xe8\x8b\xb1\xe6\x96\x87"},
    {"ja", "\xe6\x97\xa5\xe6\x96\x87"},
    {"yue", "\xe7\xb2\xa4\xe8\xaf\xad"},
    {"ko", "\xe9\x9f\xa9\xe6\x96\x87"},
    {"vi", "\xe8\xb6\x8a\xe5\x8d\x97\xe8\xaf\xad"},
    {"id", "\xe5\x8d\xb0\xe5\xb0\xbc\xe8\xaf\xad"},
    {"th", "\xe6\xb3\xb0\xe8\xaf\xad"},
    {"ms", "\xe9\xa9\xac\xe6\x9d\xa5\xe8\xaf\xad"},
    {"fil", "\xe8\x8f\xb2\xe5\xbe\x8b\xe5\xae\xbe\xe8\xaf\xad"},
    {"ar", "\xe9\x98\xbf\xe6\x8b\x89\xe4\xbc\xaf\xe8\xaf\xad"},
    {"hi", "\xe5\x8d\xb0\xe5\x9c\xb0\xe8\xaf\xad"},
    {"bg", "\xe4\xbf\x9d\xe5\x8a\xa0\xe5\x88\xa9\xe4\xba\x9a\xe8\xaf\xad"},
    {"hr", "\xe5\x85\x8b\xe7\xbd\x97\xe5\x9c\xb0\xe4\xba\x9a\xe8\xaf\xad"},
    {"cs", "\xe6\x8d\xb7\xe5\x85\x8b\xe8\xaf\xad"},
    {"da", "\xe4\xb8\xb9\xe9\xba\xa6\xe8\xaf\xad"},
    {"nl", "\xe8\x8d\xb7\xe5\x85\xb0\xe8\xaf\xad"},
    {"et", "\xe7\x88\xb1\xe6\xb2\x99\xe5\xb0\xbc\xe4\xba\x9a\xe8\xaf\xad"},
    {"fi", "\xe8\x8a\xac\xe5\x85\xb0\xe8\xaf\xad"},
    {"el", "\xe5\xb8\x8c\xe8\x85\x8a\xe8\xaf\xad"},
    {"hu", "\xe5\x8c\x88\xe7\x89\x99\xe5\x88\xa9\xe8\xaf\xad"},
    {"ga", "\xe7\x88\xb1\xe5\xb0\x94\xe5\x85\xb0\xe8\xaf\xad"},
    {"lv", "\xe6\x8b\x89\xe8\x84\xb1\xe7\xbb\xb4\xe4\xba\x9a\xe8\xaf\xad"},
    {"lt", "\xe7\xab\x8b\xe9\x99\xb6\xe5\xae\x9b\xe8\xaf\xad"},
    {"mt", "\xe9\xa9\xac\xe8\x80\xb3\xe4\xbb\x96\xe8\xaf\xad"},
    {"pl", "\xe6\xb3\xa2\xe5\x85\xb0\xe8\xaf\xad"},
    {"pt", "\xe8\x91\xa1\xe8\x90\x84\xe7\x89\x99\xe8\xaf\xad"},
    {"ro", "\xe7\xbd\x97\xe9\xa9\xac\xe5\xb0\xbc\xe4\xba\x9a\xe8\xaf\xad"},
    {"sk", "\xe6\x96\xaf\xe6\xb4\x9b\xe4\xbc\x90\xe5\x85\x8b\xe8\xaf\xad"},
    {"sl", "\xe6\x96\xaf\xe6\xb4\x9b\xe6\x96\x87\xe5\xb0\xbc\xe4\xba\x9a\xe8\xaf\xad"},
    {"sv", "\xe7\x91\x9e\xe5\x85\xb8\xe8\xaf\xad"},
};

/// What Fun-ASR-Nano shall do, in Chinese.
STENO_ON_CALL STENO_COLD inline std::string fun_asr_nano_prompt(const fun_asr_nano_options& o) {
  std::string prompt;
  if (!o.hotwords.empty()) {
    prompt =
        "\xe8\xaf\xb7\xe7\xbb\x93\xe5\x90\x88\xe4\xb8\x8a\xe4\xb8\x8b\xe6\x96\x87\xe4\xbf\xa1\xe6\x81\xaf\xef\xbc\x8c"
        "\xe6\x9b\xb4\xe5\x8a\xa0\xe5\x87\x86\xe7\xa1\xae\xe5\x9c\xb0\xe5\xae\x8c\xe6\x88\x90\xe8\xaf\xad\xe9\x9f\xb3"
        "\xe8\xbd\xac\xe5\x86\x99\xe4\xbb\xbb\xe5\x8a\xa1\xe3\x80\x82\xe5\xa6\x82\xe6\x9e\x9c\xe6\xb2\xa1\xe6\x9c\x89"
        "\xe7\x9b\xb8\xe5\x85\xb3\xe4\xbf\xa1\xe6\x81\xaf\xef\xbc\x8c\xe6\x88\x91\xe4\xbb\xac\xe4\xbc\x9a\xe7\x95\x99"
        "\xe7\xa9\xba\xe3\x80\x82\n\n\n**\xe4\xb8\x8a\xe4\xb8\x8b\xe6\x96\x87\xe4\xbf\xa1\xe6\x81\xaf\xef\xbc\x9a**"
        "\n\n\n\xe7\x83\xad\xe8\xaf\x8d\xe5\x88\x97\xe8\xa1\xa8\xef\xbc\x9a[";
    for (std::size_t i = 0; i < o.hotwords.size(); ++i) prompt.append(i == 0 ? "" : ", ").append(o.hotwords[i]);
    prompt.append("]\n");
  }
  prompt += "\xe8\xaf\xad\xe9\x9f\xb3\xe8\xbd\xac\xe5\x86\x99";
  std::string_view language = o.language == "auto" ? std::string_view() : o.language;
  for (const fun_asr_nano_language& l : fun_asr_nano_languages)
    if (l.code == language) {
      language = l.name;
      break;
    }
  if (!language.empty()) prompt.append("\xe6\x88\x90").append(language);
  if (!o.itn)
    prompt += "\xef\xbc\x8c\xe4\xb8\x8d\xe8\xbf\x9b\xe8\xa1\x8c\xe6\x96\x87\xe6\x9c\xac\xe8\xa7\x84\xe6\x95\xb4";
  return prompt + "\xef\xbc\x9a";
}

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
