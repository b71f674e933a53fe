// tools/convert/nemo/tokenizers.hpp - the tokenizers of a .nemo archive: one SentencePiece model, or one for each
// language.
//
// Tested in tests/convert/nemo_test.cpp and tests/convert/canary_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/canary_prompt.hpp>
#include <steno/tokenizers/vocabulary.hpp>

#include <string>
#include <vector>

#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

struct tokenizer_settings {
  std::vector<std::string> pieces;          ///< members that hold SentencePiece models: one, or one for each language
  std::vector<std::string> languages = {};  ///< of an aggregate tokenizer: the name of each
  bool aggregate = false;                   ///< ids count through the languages' models, in the config's order
};

/// What `tokenizer` says. Throws steno::error.
void read_tokenizer(const checkpoint_settings& config, tokenizer_settings& s);

/// Pieces of the tokenizer, and labels behind them that the model was given later (<EOU>, <EOB>). Of an aggregate
/// tokenizer `parts` gets where those of each language are; it may be null. Throws steno::error.
tokenizers::sentencepiece_vocabulary read_pieces(const nemo_archive& archive, const tokenizer_settings& s,
                                                 std::vector<nemo::canary_part>* parts = nullptr);

/// Keys of the pieces.
void set_tokenizer_keys(weights::gguf_writer& file, const tokenizers::sentencepiece_vocabulary& v);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
