// tools/convert/nemo/foreign_gguf.cpp - see foreign_gguf.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/foreign_gguf.hpp"

#include <algorithm>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

std::string replace_parts(std::string name, std::span<const name_part> parts) {
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  return name;
}

std::optional<std::pair<std::string, std::string>> lstm_part(const std::string& name) {
  constexpr std::string_view before = "decoder.prediction.dec_rnn.lstm.";
  if (!name.starts_with(before)) return std::nullopt;
  const std::size_t layer = name.rfind("_l");
  return std::pair(name.substr(before.size(), layer - before.size()), name.substr(layer + 2));
}

void check_encoder_sizes(const fastconformer_settings& s, const std::string& where) {
  if (s.width % s.heads == 0 && s.width % 2 == 0 && s.taps % 2 == 1) return;
  fail({.where = where,
        .what = "the encoder's sizes",
        .expected = "an even width that the heads divide, and an odd kernel",
        .found = std::to_string(s.width) + ", " + std::to_string(s.heads) + ", " + std::to_string(s.taps)});
}

namespace {

// Files without types: a piece is known by how it is written.
tokenizers::piece_type type_of_piece(const std::string& piece) {
  using tokenizers::piece_type;
  if (piece == "<unk>") return piece_type::unknown;
  if (piece == "<EOU>" || piece == "<EOB>") return piece_type::user_defined;
  if (piece == "<s>" || piece == "</s>" || piece == "<pad>") return piece_type::control;
  if (piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>")) return piece_type::control;
  const bool byte = piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>';
  return byte ? piece_type::byte : piece_type::normal;
}

}  // namespace

tokenizers::sentencepiece_vocabulary pieces_of_file(const gguf_file& file, std::uint32_t count) {
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = file.strings("tokenizer.ggml.tokens");
  const bool blank = v.pieces.size() == std::size_t{count} + 1;
  if (v.pieces.size() != count && !blank)
    fail({.where = file.where(),
          .what = "key \"tokenizer.ggml.tokens\"",
          .expected = std::to_string(count) + " labels, and perhaps the blank",
          .found = std::to_string(v.pieces.size())});
  const auto numbers = [&](const char* key) {
    std::vector<double> all;
    if (!file.has(key)) return all;
    all = file.numbers(key);
    if (all.size() == v.pieces.size()) return all;
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = std::to_string(v.pieces.size()) + " numbers",
          .found = std::to_string(all.size())});
  };
  const std::vector<double> scores = numbers("tokenizer.ggml.scores"), types = numbers("tokenizer.ggml.token_type");
  v.pieces.resize(count);
  for (std::size_t i = 0; i < v.pieces.size(); ++i) {
    v.scores.push_back(scores.empty() ? 0.0f : static_cast<float>(std::clamp(scores[i], -1e30, 1e30)));
    const bool known = !types.empty() && types[i] >= 1 && types[i] <= 6;
    tokenizers::piece_type type =
        known ? tokenizers::piece_type(static_cast<int>(types[i])) : type_of_piece(v.pieces[i]);
    if (v.pieces[i] == "<EOU>" || v.pieces[i] == "<EOB>") type = tokenizers::piece_type::user_defined;
    v.types.push_back(static_cast<int>(type));
  }
  return v;
}

void take_pairs(std::int32_t left, std::int32_t right, const std::vector<int>& lefts, const std::vector<int>& rights,
                const std::string& where, const std::string& what, fastconformer_settings& s) {
  if (lefts.size() != rights.size())
    fail({.where = where,
          .what = what,
          .expected = "as many on the left as on the right",
          .found = std::to_string(lefts.size()) + " and " + std::to_string(rights.size())});
  std::vector<std::vector<int>> pairs{{left, right}};
  for (std::size_t i = 0; i < lefts.size(); ++i)
    if (lefts[i] != left || rights[i] != right) pairs.push_back({lefts[i], rights[i]});
  take_contexts(pairs, where, what, s);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
