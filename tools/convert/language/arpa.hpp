// tools/convert/language/arpa.hpp - n-gram language models in the ARPA format, as SRILM, KenLM and IRSTLM write them.
//
// Becomes a packaged file of keys alone (docs/formats.md): words, and the n-grams as a trie in the order that
// search/ngram.hpp looks them up in. Tested in tests/convert/arpa_test.cpp and tests/fuzz/arpa_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/ngram.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "../families.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace language_files {

/// The text of an ARPA file -> its tables; notes are appended. Throws steno::error with the line.
search::ngram_tables read_arpa(std::string_view text, const std::string& where, std::vector<std::string>& notes);

/// A file with a line "\data\" near its beginning.
bool is_arpa(const std::filesystem::path& path);
imported_model import_arpa(const std::filesystem::path& path, const import_options& options);

/// Looks at a packaged one.
void walk_ngram(const gguf_file& keys, tensor_taker& taker);

}  // namespace language_files
}  // namespace STENO_ABI
}  // namespace steno
