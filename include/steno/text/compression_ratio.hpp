// steno/text/compression_ratio.hpp - how much shorter zlib makes a text: repeated text is a sign of a loop.
//
//   bytes of the text / bytes of zlib's stream at its default level (6)
//
// `compression_ratio` (whisper/utils.py). Tested in tests/text/compression_ratio_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#if !__has_include(<zlib.h>)
#error "steno: Whisper needs zlib (Debian: zlib1g-dev); other models do without"
#endif
#include <zlib.h>

#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace text {

/// 0 for an empty text.
STENO_ON_CALL inline double compression_ratio(std::string_view text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> out(size);
  const int state =
      compress(out.data(), &size, reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()));
  if (state != Z_OK) fail({.what = "zlib cannot compress a text of " + std::to_string(text.size()) + " bytes"});
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace text
}  // namespace STENO_ABI
}  // namespace steno
