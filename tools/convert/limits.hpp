// tools/convert/limits.hpp - how much any text or archive of a foreign checkpoint may ask for; docs/security.md lists
// and explains the figures.
//
// Every limit is meant to be several times what published checkpoints need (estimates, but for the tensors). What is
// beyond is refused before memory or time is spent on it. Tested in tests/convert/limits_test.cpp and, through the
// readers, in tests/convert.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace limits {

/// Nesting of JSON and YAML. Copies and destructors of such values call themselves once per level.
inline constexpr std::size_t depth = 64;

inline constexpr std::size_t json_bytes = std::size_t{32} << 20;  ///< a JSON file; a tokenizer.json has some 10 MB
inline constexpr std::size_t json_values = std::size_t{1}
                                           << 21;  ///< numbers, strings, lists ...; it has under a million

inline constexpr std::size_t yaml_bytes = std::size_t{4} << 20;      ///< a YAML file; lists of tokens are the largest
inline constexpr std::size_t yaml_values = 200000;                   ///< with what aliases repeat
inline constexpr std::size_t yaml_expanded = std::size_t{16} << 20;  ///< bytes of text with what aliases repeat

inline constexpr std::size_t text_bytes = std::size_t{64} << 20;  ///< any other text: merges, tokens, units, statistics

inline constexpr std::size_t safetensors_header = std::size_t{16} << 20;  ///< bytes; some 100 a tensor
inline constexpr std::size_t npy_header = std::size_t{64} << 10;          ///< bytes; numpy writes some 128
inline constexpr std::size_t tensors = 65536;                             ///< in one file
inline constexpr std::size_t rank = 8;                                    ///< dimensions of a tensor

inline constexpr std::size_t members = 65536;  ///< of one archive

/// Blocks of one kind in a model (encoder layers, decoder layers ...), for every family.
inline constexpr std::uint32_t layers = 1024;
/// Columns of the rows in a model, and what else its settings say of one size.
inline constexpr std::uint32_t width = 65536;
/// Tokens that a transducer may emit for one frame; NeMo's default is 10.
inline constexpr std::uint32_t symbols_per_frame = 1024;

/// What an archive may unpack to: weights hardly shrink, so more is a bomb. Small ones may be all zeros.
constexpr bool unpacks_too_far(std::uint64_t unpacked, std::uint64_t packed) {
  return unpacked > std::uint64_t{16} << 20 && unpacked / 8 > packed;
}

}  // namespace limits
}  // namespace STENO_ABI
}  // namespace steno
