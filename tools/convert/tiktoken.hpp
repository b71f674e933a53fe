// tools/convert/tiktoken.hpp - tokens from a table of tiktoken: a line for each, "base64 rank", the rank being its id.
//
// Whisper's *.tiktoken, and multilingual.tiktoken of Fun-ASR-Nano. Tested in tests/convert/whisper_tokenizer_test.cpp
// and nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Raw bytes of a token in GPT-2's letters (every byte is a printable character).
std::string byte_letters(std::string_view bytes);

/// The tokens of a table in these letters. Throws steno::error for more than `count`, or for ranks that are not 0, 1,
/// ...
std::vector<std::string> read_tiktoken(const std::filesystem::path& file, std::uint32_t count);

}  // namespace STENO_ABI
}  // namespace steno
