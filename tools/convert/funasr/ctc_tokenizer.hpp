// tools/convert/funasr/ctc_tokenizer.hpp - the tokenizer of Fun-ASR-Nano's CTC head: SenseVoice's, of bytes.
//
// Its text tokens are a table of tiktoken; special tokens follow them. `SenseVoiceTokenizer` and get_encoding() of
// funasr/models/sense_voice/whisper_lib/tokenizer.py. Tested in tests/convert/nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tiktoken.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// Names of the special tokens up to the times, which no text shows; no more than `count`.
std::vector<std::string> ctc_special_tokens(std::uint32_t languages, std::uint32_t count);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
