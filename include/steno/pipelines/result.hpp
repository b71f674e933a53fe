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

/// Joins texts of segments: scripts without spaces are joined without one, and where there is white space already.
inline void append_text(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) {
    const auto letter = [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != ' ' && c != '\n'; };
    if (letter(text.back()) && letter(more.front())) text += ' ';
  }
  text += more;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
