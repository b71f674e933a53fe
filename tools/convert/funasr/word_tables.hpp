// tools/convert/funasr/word_tables.hpp - jieba's dictionary and a user's words beside it, as one dictionary.
//
// dict.txt of the Python package jieba has lines "word frequency tag"; a model's jieba_usr_dict has lines "word
// [frequency] [tag]", and jieba finds a frequency for words without one. Follows jieba's gen_pfdict(), load_userdict(),
// add_word() and suggest_freq() (jieba/__init__.py, 0.42). Tested in tests/convert/ct_punc_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/word_dictionary.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// The frequencies of jieba 0.42.1's dict.txt, added up.
inline constexpr double jieba_total = 60101967;

/// jieba's dictionary. Where its frequencies are less than jieba's altogether, it is an excerpt, and jieba's total
/// counts. `where` is for messages. Throws steno::error.
tokenizers::word_dictionary read_common_words(std::string_view text, const std::string& where);
/// Adds a user's words in their order. Throws steno::error.
void add_user_words(tokenizers::word_dictionary& to, std::string_view text, const std::string& where);

/// Both from files; without `common` from where an installed jieba has it, which is noted. Throws steno::error.
tokenizers::word_dictionary read_word_tables(const std::filesystem::path& user,
                                             const std::optional<std::filesystem::path>& common,
                                             std::vector<std::string>& notes);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
