// tools/convert/nemo/parakeet_folder_tokenizer.cpp - the labels of tokenizer.json; see parakeet_folder.hpp.
//
// The file is what transformers' ParakeetConverter makes of a SentencePiece model: pieces by number, the pairs that
// make them in order, and added tokens. What is said of texts that are taken apart does not matter, nor what stands
// behind the labels (<pad> or <blank>, whose number config.json says). Scores are ranks of pairs again.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "json_settings.hpp"
#include "json_text.hpp"
#include "nemo/parakeet_folder.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using tokenizers::piece_type;

constexpr unused_setting of_tokenizer_json[] = {
    {"decoder.add_prefix_space", "the pre-tokenizer says it"},
    {"decoder.prepend_scheme", "the pre-tokenizer says it"},
    {"decoder.split", "texts are written, not taken apart"},
    {"decoder.str_rep", "it is the replacement"},
    {"model.byte_fallback", "bytes are known by how they are written"},
    {"model.dropout", "training alone reads it"},
    {"model.fuse_unk", "texts are written, not taken apart"},
    {"model.ignore_merges", "texts are written, not taken apart"},
    {"model.unk_id", "the vocabulary says it"},
    {"version", "of the file"},
};

// Of texts that are taken apart, wherever they stand; of these, steno reads where spaces are put.
constexpr std::string_view of_encoding[] = {"normalizer", "pre_tokenizer", "post_processor", "truncation", "padding"};
constexpr std::string_view encoding_names[] = {"Regex",
                                               "String",
                                               "add_prefix_space",
                                               "behavior",
                                               "content",
                                               "direction",
                                               "form",
                                               "invert",
                                               "left",
                                               "max_length",
                                               "normalizers",
                                               "pad_id",
                                               "pad_to_multiple_of",
                                               "pad_token",
                                               "pad_type_id",
                                               "pair",
                                               "pattern",
                                               "precompiled_charsmap",
                                               "prepend",
                                               "prepend_scheme",
                                               "pretokenizers",
                                               "processors",
                                               "replacement",
                                               "right",
                                               "single",
                                               "special_tokens",
                                               "split",
                                               "strategy",
                                               "str_rep",
                                               "stride",
                                               "strip_left",
                                               "strip_right",
                                               "trim_offsets",
                                               "type",
                                               "use_regex"};

void note_unknown_names(const json& value, const std::string& at, const std::string& file,
                        std::vector<std::string>& notes) {
  if (value.is_object()) {
    for (const auto& [name, below] : value.items()) {
      if (std::find(std::begin(encoding_names), std::end(encoding_names), name) == std::end(encoding_names))
        notes.push_back(file + ": not read, and not known: " + steno::weights::quoted(at + "." + name));
      else if (name != "special_tokens" && name != "single" && name != "pair")
        note_unknown_names(below, at + "." + name, file, notes);
    }
  } else if (value.is_array()) {
    for (const json& element : value) note_unknown_names(element, at, file, notes);
  }
}

class labels_of_json {
 public:
  labels_of_json(const fs::path& file, std::uint32_t count) : where_(file.string()), pieces_(count), special_(count) {}

  void add_vocabulary(const json& vocab) {
    if (vocab.is_object()) {
      for (const auto& [piece, id] : vocab.items()) put(piece, id);
      return;
    }
    // A unigram model: pieces with scores, by number.
    if (!vocab.is_array()) stop("model.vocab", "pieces with their numbers, or a list of them with scores");
    for (std::size_t i = 0; i < vocab.size(); ++i) {
      const json& entry = vocab[i];
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number() ||
          std::abs(entry[1].get<double>()) > 1e30)
        stop("model.vocab " + std::to_string(i), "a piece and its score");
      put(entry[0].get<std::string>(), json(i));
      if (i < pieces_.size()) scores_[static_cast<std::uint32_t>(i)] = entry[1].get<float>();
    }
  }
  void add_tokens(const json& added) {
    if (added.is_null()) return;
    if (!added.is_array()) stop("added_tokens", "a list");
    for (const json& t : added) {
      if (!t.is_object() || !t.contains("content") || !t["content"].is_string() || !t.contains("id"))
        stop("added_tokens", "tokens with content and id");
      for (const auto& [key, value] : t.items())
        if (std::find(std::begin(fields), std::end(fields), key) == std::end(fields))
          stop("added_tokens: " + steno::weights::quoted(key), "content, id, special and how texts are taken apart");
      const auto id = put(t["content"].get<std::string>(), t["id"]);
      if (!id) continue;
      const bool special = t.contains("special") && t["special"].is_boolean() && t["special"].get<bool>();
      special_[*id] = static_cast<int>(special ? piece_type::control : piece_type::user_defined);
    }
  }
  // The rank of a piece is that of the pair that makes it.
  void add_merges(const json& merges) {
    if (merges.is_null()) return;
    if (!merges.is_array()) stop("model.merges", "a list of pairs");
    for (const json& m : merges) {
      std::string joined;
      if (m.is_string()) {
        joined = m.get<std::string>();
        const std::size_t space = joined.find(' ');
        if (space == std::string::npos) stop("model.merges", "pairs");
        joined.erase(space, 1);
      } else if (m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string()) {
        joined = m[0].get<std::string>() + m[1].get<std::string>();
      } else {
        stop("model.merges", "pairs");
      }
      ranks_.emplace(std::move(joined), static_cast<int>(ranks_.size()));
    }
  }

  tokenizers::sentencepiece_vocabulary finish(const std::string& unknown) {
    tokenizers::sentencepiece_vocabulary v;
    int rest = static_cast<int>(ranks_.size());
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      if (!pieces_[i]) stop("token " + std::to_string(i), "a piece for every label");
      const std::string& piece = *pieces_[i];
      const bool byte = piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
      int type = static_cast<int>(byte ? piece_type::byte : piece_type::normal);
      if (special_[i] != 0) type = special_[i];
      if (piece == "<EOU>" || piece == "<EOB>") type = static_cast<int>(piece_type::user_defined);
      if (piece == unknown) type = static_cast<int>(piece_type::unknown);
      float score = 0;
      if (const auto given = scores_.find(i); given != scores_.end())
        score = given->second;
      else if (const auto rank = ranks_.find(piece); rank != ranks_.end())
        score = -static_cast<float>(rank->second);
      else if (type == static_cast<int>(piece_type::normal))
        score = -static_cast<float>(rest++);
      v.types.push_back(type);
      v.scores.push_back(score);
      v.pieces.push_back(piece);
    }
    return v;
  }

 private:
  static constexpr std::string_view fields[] = {"content", "id",      "lstrip",     "normalized",
                                                "rstrip",  "special", "single_word"};

  [[noreturn]] void stop(const std::string& what, const std::string& expected) const {
    fail({.where = where_, .what = what, .expected = expected});
  }
  // The label's number; nothing for what stands behind the labels.
  std::optional<std::uint32_t> put(const std::string& piece, const json& id) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= 1u << 24)
      stop("token " + steno::weights::quoted(piece), "a number");
    const auto n = id.get<std::uint32_t>();
    if (n >= pieces_.size()) return std::nullopt;
    if (pieces_[n] && *pieces_[n] != piece)
      stop("token " + steno::weights::quoted(piece), "a number that no other token has");
    pieces_[n] = piece;
    return n;
  }

  std::string where_;
  std::vector<std::optional<std::string>> pieces_;
  std::vector<int> special_;  // a piece_type; 0: not added
  std::map<std::uint32_t, float> scores_;
  std::map<std::string, int, std::less<>> ranks_;
};

}  // namespace

tokenizers::sentencepiece_vocabulary read_tokenizer_json(const fs::path& file, std::uint32_t count,
                                                         std::vector<std::string>& notes) {
  json all = read_json_object(file);
  json& model = all["model"];
  if (!model.is_object() || !model.contains("vocab"))
    fail({.where = file.string(), .what = "model", .expected = "a vocabulary"});
  labels_of_json labels(file, count);
  labels.add_vocabulary(model["vocab"]);
  labels.add_merges(model.value("merges", json()));
  labels.add_tokens(all.value("added_tokens", json()));
  model.erase("vocab");
  model.erase("merges");
  all.erase("added_tokens");
  bool spaced = true;
  for (const std::string_view name : of_encoding) {
    const json part = all.value(std::string(name), json());
    all.erase(std::string(name));
    note_unknown_names(part, std::string(name), file.string(), notes);
    if (name != "pre_tokenizer" || !part.is_object()) continue;
    spaced =
        part.value("prepend_scheme", json("always")) != "never" && part.value("add_prefix_space", json(true)) != false;
  }
  const checkpoint_settings f = json_settings(file.string(), all);
  const std::string type = f.text("model.type", "BPE");
  if (type != "Unigram") f.require("model.type", "BPE");
  for (const char* key : {"model.continuing_subword_prefix", "model.end_of_word_suffix"})
    if (!f.is_null(key)) f.require(key, "");
  const std::string unknown = f.text("model.unk_token", "<unk>");
  f.require("decoder.type", "Metaspace");
  f.require("decoder.replacement", "\xe2\x96\x81");
  constexpr std::string_view of_models[] = {"decoder", "model"};
  f.check_all_read(of_models, of_tokenizer_json, notes);
  tokenizers::sentencepiece_vocabulary v = labels.finish(unknown);
  v.add_dummy_prefix = spaced;
  return v;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
