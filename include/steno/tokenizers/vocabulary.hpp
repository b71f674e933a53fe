// steno/tokenizers/vocabulary.hpp - the pieces a SentencePiece tokenizer knows, however they were stored.
//
// Filled from a *.model file (tokenizers/sentencepiece_model.hpp) or from the tokenizer.ggml.* keys of a packaged file;
// read by tokenizers/sentencepiece.hpp. The numbers of `types` are SentencePiece's own. Tested with its readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// SentencePiece's numbers for what a piece is.
enum class piece_type : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// Pieces by id with what decoding needs to know. `scores` and `types` have the size of `pieces` or are empty
/// (unknown).
struct sentencepiece_vocabulary {
  std::vector<std::string> pieces;             ///< UTF-8; U+2581 stands for a space
  std::vector<float> scores;                   ///< log-probability (unigram) or minus the merge rank (BPE)
  std::vector<int> types;                      ///< numbers of piece_type
  bool add_dummy_prefix = true;                ///< a space is put before the text when encoding, removed when decoding
  bool remove_extra_whitespaces = true;        ///< runs of spaces are one space; leading ones are dropped
  std::string unk_surface = " \xE2\x81\x87 ";  ///< what an unknown piece decodes to
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
