// tools/convert/json_text.hpp - the one way from a foreign file's text to a JSON value, within the limits of
// limits.hpp.
//
// Depth and number of values are counted in the text before a value is built: nlohmann's parser does not call itself,
// but copies of its values do, once per level. Tested in tests/convert/limits_test.cpp, fuzzed by
// tests/fuzz/json_text_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

/// Throws steno::error that names `where` and the byte when `text` is no JSON or beyond the limits.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The same of a file.
nlohmann::json read_json(const std::filesystem::path& file);
/// The same of a file that holds an object.
nlohmann::json read_json_object(const std::filesystem::path& file);

/// A whole text file of at most `largest` bytes. Throws steno::error.
std::string read_text(const std::filesystem::path& file, std::size_t largest);

}  // namespace STENO_ABI
}  // namespace steno
