// Words with times of a text that was rewritten: "seven minutes" became "7 min", and somebody wants cues of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace steno::app {

/// The words of `written`, which says the same as `spoken` in part in other words. A word that stays keeps what it has.
/// Those that stand for others share the time of these by their length, have the least of their confidences, and the
/// first one's speaker. As they are where the words are not those of `spoken`, or where nearly all is different.
std::vector<word> words_as_written(std::string_view spoken, std::span<const word> words, std::string_view written);

}  // namespace steno::app
