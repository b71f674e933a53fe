// The structs of steno.h that show a segment, a word, an event; their texts are those of what they show.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/steno.h>
#include <steno/core/result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

namespace steno::c {

inline const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }
inline const char* text_or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

// Fills in as many bytes as the caller's struct has.
template <class T>
bool fill_in(T* to, T value) {
  const std::size_t size = to->size;
  if (size < sizeof(std::size_t)) return false;
  value.size = std::min(size, sizeof value);
  std::memcpy(to, &value, value.size);
  return true;
}

inline steno_segment shown(const segment& s) {
  return {.size = sizeof(steno_segment),
          .start = s.start,
          .end = s.end,
          .text = s.text.c_str(),
          .language = text_or_null(s.language),
          .speaker = text_or_null(s.speaker),
          .word_count = s.words.size(),
          .has_score = s.score.has_value(),
          .score = s.score.value_or(0)};
}

inline steno_status show_word(const segment& s, std::size_t index, steno_word* word) {
  if (word == nullptr || index >= s.words.size()) return STENO_MISUSE;
  const steno::word& w = s.words[index];
  return fill_in(word, {.size = sizeof(steno_word),
                        .start = w.start,
                        .end = w.end,
                        .has_times = w.how != timing::none,
                        .text = w.text.c_str(),
                        .confidence = w.confidence,
                        .speaker = text_or_null(w.speaker)})
             ? STENO_OK
             : STENO_MISUSE;
}

}  // namespace steno::c
