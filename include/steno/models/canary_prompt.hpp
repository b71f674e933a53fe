// steno/models/canary_prompt.hpp - Canary's special tokens, and the prompts that are made of them.
//
//   canary    startoftranscript, source, task, target, pnc
//   canary2   startofcontext, context, startoftranscript, emotion, source, target, pnc, itn, timestamp, diarize
//
// Follows `CanaryPromptFormatter`, `Canary2PromptFormatter`, `CanaryTokenizer` and `CanaryBPETokenizer` (nemo
// collections/common). One SentencePiece model encodes the prompt as a text, so its space in front comes first; of an
// aggregate tokenizer special tokens are those of the part "spl_tokens", and a context is written in the pieces of the
// target language. The task of the first format follows from the languages. Tested in
// tests/models/canary_prompt_test.cpp and tests/parity/canary_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/metadata.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Templates of prompts.
enum class canary_format { canary, canary2 };
/// Their names in files.
inline constexpr std::string_view canary_formats[] = {"canary", "canary2"};

/// What a prompt says.
struct canary_prompt {
  std::string language = "auto";      ///< spoken: a code that languages() has; auto: en, as the original
  std::string target_language = {};   ///< written; empty: as it is spoken
  bool punctuation = true;            ///< punctuation marks and capital letters
  bool itn = false;                   ///< figures and abbreviations (canary2)
  bool timestamps = false;            ///< times of words (canary2)
  bool diarize = false;               ///< changes of speakers (canary2)
  std::string emotion = "undefined";  ///< neutral, happy, sad, angry (canary2)
  std::string context = {};           ///< a text before the recording: names, style (canary2)
  bool operator==(const canary_prompt&) const = default;
};

/// A part of an aggregate tokenizer: ids from `first` on.
struct canary_part {
  std::string name = {};                 ///< "spl_tokens", or a language
  int first = 0;                         ///< its first id
  int size = 0;                          ///< ids that it has
  bool add_dummy_prefix = true;          ///< as its SentencePiece model says
  bool remove_extra_whitespaces = true;  ///< as its SentencePiece model says
};

/// Parts from `prefix`.tokenizer.*; none where the file has one SentencePiece model. Throws steno::error.
STENO_ON_CALL STENO_COLD inline std::vector<canary_part> read_canary_parts(const gguf_file& file,
                                                                           std::string_view prefix, int pieces) {
  constexpr std::size_t max_parts = 1024;
  const std::string at = std::string(prefix) + ".tokenizer.";
  std::vector<canary_part> all;
  if (!file.has(at + "names")) return all;
  const std::vector<std::string> names = file.strings(at + "names");
  const std::vector<int> sizes = models::read_wholes(file, at + "sizes", 1, 1 << 20, max_parts),
                         prefixes = models::read_wholes(file, at + "add_space_prefix", 0, 1, max_parts),
                         squeezed = models::read_wholes(file, at + "remove_extra_whitespaces", 0, 1, max_parts);
  std::size_t first = 0;
  const bool agree = names.size() == sizes.size() && prefixes.size() == sizes.size() && squeezed.size() == sizes.size();
  for (std::size_t i = 0; agree && i < names.size(); ++i) {
    all.push_back({names[i], static_cast<int>(first), sizes[i], prefixes[i] != 0, squeezed[i] != 0});
    first += static_cast<std::size_t>(sizes[i]);
  }
  if (!agree || first != static_cast<std::size_t>(pieces))
    fail({.where = file.where(),
          .what = "keys " + steno::weights::quoted(at + "names") + ", sizes and their flags",
          .expected = "as many of each, of " + std::to_string(pieces) + " tokens together",
          .found = std::to_string(names.size()) + ", of " + std::to_string(first)});
  return all;
}

/// The special tokens of a vocabulary. Const members may be called from any number of threads.
class canary_tokens {
 public:
  canary_tokens() = default;
  /// `pieces` must outlive the calls that are given it. Throws steno::error when the file has no such tokens.
  STENO_ON_CALL STENO_COLD canary_tokens(const gguf_file& file, std::string_view prefix,
                                         const tokenizers::sentencepiece& pieces)
      : format(canary_format(models::read_choice(file, std::string(prefix) + ".prompt_format", canary_formats, 1))),
        parts_(read_canary_parts(file, prefix, pieces.size())),
        specials_{{}, 0, pieces.size()} {
    for (const canary_part& p : parts_)
      if (p.name == "spl_tokens") specials_ = p;
    const auto need = [&](const char* piece) {
      const int id = find(pieces, piece);
      if (id < 0)
        fail({.where = file.where(),
              .what = "tokenizer.ggml.tokens",
              .expected = "a token " + std::string(piece),
              .found = "none"});
      return id;
    };
    bos = need("<|startoftranscript|>");
    eos = need("<|endoftext|>");
    pad = need("<pad>");
    for (int id = specials_.first; id < specials_.first + specials_.size; ++id)
      if (frame_of(pieces, id) >= 0) times_ = true;
    times_ = times_ && find(pieces, "<|timestamp|>") >= 0 &&
             models::read_flag(file, std::string(prefix) + ".writes_times", true);
  }

  canary_format format = canary_format::canary2;  ///< template of prompts
  int bos = 0;                                    ///< <|startoftranscript|>
  int eos = 0;                                    ///< <|endoftext|>
  int pad = 0;                                    ///< `<pad>`

  /// There are tokens for times, the prompt can want them, and the model was trained to write them.
  bool has_times() const noexcept { return times_ && format == canary_format::canary2; }
  /// Of an aggregate tokenizer.
  const std::vector<canary_part>& parts() const noexcept { return parts_; }

  /// The number of a special token; -1: there is none.
  STENO_ON_CALL int find(const tokenizers::sentencepiece& pieces, std::string_view piece) const {
    for (int id = specials_.first; id < specials_.first + specials_.size; ++id)
      if (pieces.piece(id) == piece) return id;
    return -1;
  }
  /// k of a token <|k|>, a time in encoder rows; -1 for other tokens.
  STENO_ON_CALL static extent frame_of(const tokenizers::sentencepiece& pieces, int id) noexcept {
    const std::string_view p = pieces.piece(id);
    if (p.size() < 5 || p.size() > 10 || !p.starts_with("<|") || !p.ends_with("|>")) return -1;
    extent n = 0;
    for (const char digit : p.substr(2, p.size() - 4)) {
      if (digit < '0' || digit > '9') return -1;
      n = 10 * n + (digit - '0');
    }
    return n;
  }

  /// Codes of the languages: those of an aggregate tokenizer's parts, or of all tokens with the name of one.
  STENO_ON_CALL STENO_COLD std::vector<std::string> languages(const tokenizers::sentencepiece& pieces) const {
    std::vector<std::string> all;
    for (const canary_part& p : parts_) {
      const std::string code = p.name.substr(0, p.name.find('-'));
      if (find(pieces, token_of(code)) >= 0) all.push_back(code);
    }
    if (!parts_.empty()) return all;
    for (int id = 0; id < pieces.size(); ++id) {
      const std::string_view p = pieces.piece(id);
      const auto lower = [&](std::size_t i) { return p[i] >= 'a' && p[i] <= 'z'; };
      if (p.size() == 6 && p.starts_with("<|") && p.ends_with("|>") && lower(2) && lower(3)) all.emplace_back(p, 2, 2);
    }
    return all;
  }
  /// The language that is spoken.
  static std::string source_of(const canary_prompt& p) { return p.language == "auto" ? "en" : p.language; }
  /// The language that is written.
  static std::string target_of(const canary_prompt& p) {
    return p.target_language.empty() ? source_of(p) : p.target_language;
  }

  /// The tokens of a prompt. Throws steno::error for a language, an emotion or a text that the vocabulary has not, and
  /// for what the format cannot say.
  STENO_ON_CALL STENO_COLD std::vector<int> prompt(const tokenizers::sentencepiece& pieces,
                                                   const canary_prompt& p) const {
    std::vector<int> ids;
    if (parts_.empty() && pieces.vocabulary().add_dummy_prefix) {
      const int space = find(pieces, tokenizers::sentencepiece::space);
      if (space >= 0) ids.push_back(space);
    }
    const auto add = [&](const std::string& token, const std::string& what) {
      const int id = find(pieces, token);
      if (id < 0) fail({.what = what, .expected = "one that the model has a token for", .found = token});
      ids.push_back(id);
    };
    const auto choose = [&](const char* name, bool on) { add((on ? "<|" : "<|no") + std::string(name) + "|>", name); };
    const std::string source = source_of(p), target = target_of(p);
    if (format == canary_format::canary) {
      refuse(p.itn, "itn");
      refuse(p.timestamps, "timestamps");
      refuse(p.diarize, "diarize");
      refuse(p.emotion != "undefined", "emotion");
      refuse(!p.context.empty(), "context");
      ids.push_back(bos);
      add(token_of(source), "language");
      add(source == target ? "<|transcribe|>" : "<|translate|>", "task");
      add(token_of(target), "target language");
      choose("pnc", p.punctuation);
      return ids;
    }
    add("<|startofcontext|>", "prompt");
    const std::vector<int> context = context_of(pieces, p.context, target);
    ids.insert(ids.end(), context.begin(), context.end());
    ids.push_back(bos);
    add("<|emo:" + p.emotion + "|>", "emotion");
    add(token_of(source), "language");
    add(token_of(target), "target language");
    choose("pnc", p.punctuation);
    choose("itn", p.itn);
    choose("timestamp", p.timestamps);
    choose("diarize", p.diarize);
    return ids;
  }

 private:
  static std::string token_of(const std::string& language) { return "<|" + language + "|>"; }
  static void refuse(bool set, const char* what) {
    if (set)
      fail({.what = what,
            .expected = "nothing: prompts of the format canary have no place for it",
            .hint = "those of canary2 have one"});
  }
  // A text in the middle of a prompt: nothing is put before it, and spaces at its ends stay.
  STENO_ON_CALL std::vector<int> context_of(const tokenizers::sentencepiece& pieces, const std::string& text,
                                            const std::string& target) const {
    std::vector<int> ids;
    if (text.empty()) return ids;
    tokenizers::sentencepiece_vocabulary v = pieces.vocabulary();
    int first = 0;
    std::string written = text;
    if (const canary_part* const p = part_of(target)) {
      first = p->first;
      const auto cut = [&](auto& all) {
        if (all.empty()) return;
        all.erase(all.begin() + p->first + p->size, all.end());
        all.erase(all.begin(), all.begin() + p->first);
      };
      cut(v.pieces);
      cut(v.scores);
      cut(v.types);
      v.add_dummy_prefix = p->add_dummy_prefix;
      v.remove_extra_whitespaces = p->remove_extra_whitespaces;
    } else if (!parts_.empty()) {
      fail({.what = "context", .expected = "a target language with a tokenizer", .found = target});
    } else {
      if (v.remove_extra_whitespaces)
        written.erase(std::unique(written.begin(), written.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                      written.end());
      v.add_dummy_prefix = v.remove_extra_whitespaces = false;
    }
    const auto found = text.find("<|") == std::string::npos ? tokenizers::split_pieces(v, written) : std::nullopt;
    if (!found)
      fail({.what = "context " + steno::weights::quoted(text),
            .expected = "characters that the model has pieces for, and no special tokens"});
    for (const int id : *found) ids.push_back(first + id);
    return ids;
  }
  // As the original looks for it: two letters may stand for the language of a country.
  STENO_ON_CALL const canary_part* part_of(const std::string& language) const {
    constexpr std::pair<std::string_view, std::string_view> others[] = {
        {"en", "en-US"}, {"es", "es-ES"}, {"fr", "fr-FR"}, {"de", "de-DE"}};
    const auto named = [&](std::string_view name) {
      const auto p =
          std::find_if(parts_.begin(), parts_.end(), [&](const canary_part& one) { return one.name == name; });
      return p == parts_.end() ? nullptr : &*p;
    };
    if (const canary_part* p = named(language)) return p;
    for (const auto& [code, name] : others)
      if (code == language) return named(name);
    return nullptr;
  }

  std::vector<canary_part> parts_;
  canary_part specials_;  // ids among which special tokens are
  bool times_ = false;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
