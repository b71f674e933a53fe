// steno/pipelines/result.hpp - the result of a recogniser, where users of the pipelines look for it.
//
// The type itself lies below the models, which return it.
#pragma once
#include <steno/core/result.hpp>

#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// Joins texts of segments: scripts without spaces are joined without one.
inline void append_text(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) {
    const bool ascii =
        static_cast<unsigned char>(text.back()) < 0x80 && static_cast<unsigned char>(more.front()) < 0x80;
    if (ascii) text += ' ';
  }
  text += more;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
