// steno/tokenizers/whisper_tokens.hpp - Whisper's tokens: byte pairs, then special ones whose numbers follow from the
// vocabulary's size.
//
//   text .., eot, sot, languages .., translate, transcribe, startoflm, startofprev, nospeech, notimestamps,
//   <|0.00|> .. <|30.00|> in steps of 0.02 s
//
// Follows `Tokenizer` (whisper/tokenizer.py). Texts are UTF-8; bytes that are not become U+FFFD where the original's
// do. Tested in tests/tokenizers/whisper_tokens_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/tokenizers/byte_bpe.hpp>
#include <steno/tokenizers/whisper_languages.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// Tokens that make one word, or one whole character.
struct whisper_word {
  std::string text;      ///< with the space in front of it, if there is one
  std::vector<int> ids;  ///< its tokens, in order
};

/// Whisper's vocabulary: text to ids and back, and the numbers of special tokens. Const members may be called from any
/// number of threads.
class whisper_tokens : public byte_bpe {
 public:
  static constexpr int timestamps = 1501;  ///< tokens of times, 0 to 30 s in steps of 0.02 s

  /// No tokens.
  whisper_tokens() = default;
  /// `letters`: the text tokens; `vocabulary`: rows of the token embedding; `language_and_task`: whether the prompt
  /// names them, which follows from the size of published vocabularies. Throws steno::error when they do not fit.
  template <class Letters = std::vector<std::string>>
  STENO_COLD whisper_tokens(const Letters& letters, extent vocabulary, std::optional<bool> language_and_task = {})
      : byte_bpe(letters) {
    multilingual = language_and_task.value_or(vocabulary >= 51865);
    const extent rest = vocabulary - size() - timestamps - 8;
    if (rest < 1 || rest > static_cast<extent>(std::size(whisper_languages)))
      fail({.what = "vocabulary of Whisper",
            .expected = std::to_string(size()) + " text tokens, 8 special ones, 1501 times and 1 to 100 languages",
            .found = std::to_string(vocabulary)});
    languages = static_cast<int>(rest);
    eot = size();
    sot = eot + 1;
    translate = sot + 1 + languages;
    transcribe = translate + 1;
    sot_lm = translate + 2;
    sot_prev = translate + 3;
    no_speech = translate + 4;
    no_timestamps = translate + 5;
    timestamp_begin = translate + 6;
  }

  bool multilingual = false;  ///< whether the prompt names language and task
  int languages = 0;          ///< number of languages, 1 to 100, also of English-only models
  int eot = 0;                ///< <|endoftext|>; smaller ids are text
  int sot = 0;                ///< <|startoftranscript|>, with which the prompt begins
  int translate = 0;          ///< task: text in English
  int transcribe = 0;         ///< task: text in the language of the speech
  int sot_lm = 0;             ///< <|startoflm|>
  int sot_prev = 0;           ///< <|startofprev|>, in front of earlier text in the prompt
  int no_speech = 0;          ///< <|nospeech|>: its probability gives no_speech_prob
  int no_timestamps = 0;      ///< <|notimestamps|>: the text comes without times
  int timestamp_begin = 0;    ///< <|0.00|>; larger ids are later times

  /// The token of a language by its number, 0 to languages - 1; not checked.
  int language_token(int language) const noexcept { return sot + 1 + language; }
  /// Code of a language, "en", ...
  static std::string_view code(int language) { return whisper_languages[language].code; }
  /// A language by code or name, or -1 when the model does not have it.
  int find_language(std::string_view text) const {
    const int n = find_whisper_language(text);
    return n < languages ? n : -1;
  }
  /// Tokens before the text: <|startoftranscript|>, and for multilingual models the language and the task.
  std::vector<int> start(int language, bool to_english) const {
    if (!multilingual) return {sot};
    return {sot, language_token(language), to_english ? translate : transcribe};
  }

  /// What a special token is written as, "<|en|>", "<|1.08|>"; empty for text tokens.
  STENO_ON_CALL std::string special(int id) const {
    if (id < eot) return {};
    if (id >= timestamp_begin) {
      char text[32];
      std::snprintf(text, sizeof text, "<|%.2f|>", (id - timestamp_begin) * 0.02);
      return text;
    }
    if (id > sot && id < translate) return std::string("<|").append(code(id - sot - 1)).append("|>");
    if (id == eot) return "<|endoftext|>";
    if (id == sot) return "<|startoftranscript|>";
    constexpr std::string_view names[] = {"translate",   "transcribe", "startoflm",
                                          "startofprev", "nospeech",   "notimestamps"};
    return std::string("<|").append(names[id - translate]).append("|>");
  }
  /// Text of tokens; times are written as <|0.00|>.
  STENO_ON_CALL std::string decode_with_timestamps(const std::vector<int>& ids) const {
    std::string all;
    for (const int id : ids) id < eot ? all += bytes(id) : all += special(id);
    return unicode::replace_invalid(all);
  }
  /// Text of tokens without times.
  STENO_ON_CALL std::string text_of(std::vector<int> ids) const {
    std::erase_if(ids, [&](int id) { return id >= timestamp_begin; });
    return decode_with_timestamps(ids);
  }

  /// Tokens of a phrase as they stand within a text: with a space before it, unless it begins in a script that is
  /// written without spaces between words. Nothing when bytes of it have no token.
  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> split(std::string_view phrase) const {
    const std::string_view bare = unicode::strip(phrase);
    if (bare.empty()) return std::vector<int>{};
    std::string text = unicode::is_spaceless(unicode::first_of(bare).value) ? "" : " ";
    text.append(bare);
    std::vector<int> ids = encode(text);
    if (decode(ids) != text) return std::nullopt;
    return ids;
  }

  /// Tokens of symbols that are not spoken: brackets, notes, ... A hyphen and a quote only at the start of a word.
  STENO_ON_CALL STENO_COLD std::vector<int> non_speech_tokens() const {
    constexpr std::string_view symbols[] = {"\"", "#",  "(",   ")",   "*",   "+",  "/",   ":",  ";",  "<",  "=",
                                            ">",  "@",  "[",   "\\",  "]",   "^",  "_",   "`",  "{",  "|",  "}",
                                            "~",  "<<", ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('", "(\"",
                                            "((", "))", "(((", ")))", "[[",  "]]", "{{",  "}}"};
    // Corner brackets, and notes beside each other.
    constexpr std::string_view wide[] = {"\xe3\x80\x8c",
                                         "\xe3\x80\x8d",
                                         "\xe3\x80\x8e",
                                         "\xe3\x80\x8f",
                                         "\xe2\x99\xaa\xe2\x99\xaa",
                                         "\xe2\x99\xaa\xe2\x99\xaa\xe2\x99\xaa"};
    std::set<int> ids;
    for (const char* start : {" -", " '"})
      if (const std::vector<int> tokens = encode(start); !tokens.empty()) ids.insert(tokens[0]);
    const auto add = [&](std::string_view symbol, bool first) {
      for (const std::string& text : {std::string(symbol), std::string(" ").append(symbol)}) {
        const std::vector<int> tokens = encode(text);
        if (!tokens.empty() && (first || tokens.size() == 1)) ids.insert(tokens[0]);
      }
    };
    for (const std::string_view s : symbols) add(s, false);
    for (const std::string_view s : wide) add(s, false);
    // U+2669 to U+266F: the first token stands for all of them, since they share it.
    for (char last = '\xa9'; last <= '\xaf'; ++last) add(std::string("\xe2\x99") + last, true);
    return {ids.begin(), ids.end()};
  }

  /// Tokens of text (and eot) as words: at spaces, or wherever text is whole for languages without them.
  STENO_ON_CALL STENO_COLD std::vector<whisper_word> split_to_words(const std::vector<int>& ids, int language) const {
    std::vector<whisper_word> parts = split_on_unicode(ids);
    if (multilingual)
      for (const std::string_view spaceless : {"zh", "ja", "th", "lo", "my", "yue"})
        if (code(language) == spaceless) return parts;
    std::vector<whisper_word> words;
    for (whisper_word& p : parts) {
      constexpr std::string_view punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
      const bool mark = punctuation.find(unicode::strip(p.text)) != std::string_view::npos;
      if (p.ids[0] >= eot || p.text.starts_with(' ') || mark || words.empty()) {
        words.push_back(std::move(p));
      } else {
        words.back().text += p.text;
        words.back().ids.insert(words.back().ids.end(), p.ids.begin(), p.ids.end());
      }
    }
    return words;
  }

 private:
  static constexpr std::string_view replacement = "\xef\xbf\xbd";

  // The shortest runs of tokens that are whole characters. A replacement character that stands at the same place in the
  // whole text is one.
  STENO_ON_CALL std::vector<whisper_word> split_on_unicode(const std::vector<int>& ids) const {
    const std::string full = decode_with_timestamps(ids);
    std::vector<whisper_word> words;
    whisper_word now;
    std::size_t offset = 0;  // bytes of `full`
    for (const int id : ids) {
      now.ids.push_back(id);
      now.text = decode_with_timestamps(now.ids);
      const std::size_t at = now.text.find(replacement);
      if (at != std::string::npos &&
          std::string_view(full).substr(std::min(full.size(), offset + at), 3) != replacement)
        continue;
      offset += now.text.size();
      words.push_back(std::exchange(now, {}));
    }
    return words;
  }
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
