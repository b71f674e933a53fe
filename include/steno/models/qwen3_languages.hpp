// steno/models/qwen3_languages.hpp - the languages of Qwen3-ASR by the names its prompts use, and their codes.
//
// `SUPPORTED_LANGUAGES` (qwen_asr/inference/utils.py). Tested in tests/models/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// A language of the published models.
struct qwen3_language {
  std::string_view name;  ///< as prompts and answers have it: "German"
  std::string_view code;  ///< "de"
};
/// All that the published models know.
inline constexpr qwen3_language qwen3_languages[] = {
    {"Chinese", "zh"}, {"English", "en"}, {"Cantonese", "yue"}, {"Arabic", "ar"},     {"German", "de"},
    {"French", "fr"},  {"Spanish", "es"}, {"Portuguese", "pt"}, {"Indonesian", "id"}, {"Italian", "it"},
    {"Korean", "ko"},  {"Russian", "ru"}, {"Thai", "th"},       {"Vietnamese", "vi"}, {"Japanese", "ja"},
    {"Turkish", "tr"}, {"Hindi", "hi"},   {"Malay", "ms"},      {"Dutch", "nl"},      {"Swedish", "sv"},
    {"Danish", "da"},  {"Finnish", "fi"}, {"Polish", "pl"},     {"Czech", "cs"},      {"Filipino", "fil"},
    {"Persian", "fa"}, {"Greek", "el"},   {"Romanian", "ro"},   {"Hungarian", "hu"},  {"Macedonian", "mk"},
};

/// The name of a language given by code or normal name; empty for one that is not known.
constexpr std::string_view find_qwen3_language(std::string_view text) {
  for (const qwen3_language& l : qwen3_languages)
    if (text == l.name || text == l.code) return l.name;
  return {};
}

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno
