// steno/pipelines/result.hpp - the result of a recogniser, where users of the pipelines look for it.
//
// The type itself lies below the models, which return it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/scripts.hpp>

#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// Joins texts of segments: with a space, but where one is there and beside scripts that are written without.
inline void append_text(std::string& text, std::string_view more) {
  if (tokenizers::wants_space_between(text, more)) text += ' ';
  text += more;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
