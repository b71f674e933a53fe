// Where steno/handles.mjs reads the fields of steno.h's structs.
// SPDX-License-Identifier: Apache-2.0
#include <steno/steno.h>

#include <cstddef>

static_assert(sizeof(void*) == 4 && sizeof(size_t) == 4);
static_assert(offsetof(steno_segment, start) == 8 && offsetof(steno_segment, end) == 16);
static_assert(offsetof(steno_segment, text) == 24 && offsetof(steno_segment, language) == 28);
static_assert(offsetof(steno_segment, speaker) == 32 && offsetof(steno_segment, word_count) == 36);
static_assert(offsetof(steno_segment, has_score) == 40 && offsetof(steno_segment, score) == 48);
static_assert(sizeof(steno_segment) == 56);
static_assert(offsetof(steno_word, start) == 8 && offsetof(steno_word, end) == 16);
static_assert(offsetof(steno_word, has_times) == 24 && offsetof(steno_word, text) == 28);
static_assert(offsetof(steno_word, confidence) == 32 && offsetof(steno_word, speaker) == 36);
static_assert(sizeof(steno_word) == 40);
static_assert(offsetof(steno_event, final) == 4 && offsetof(steno_event, utterance) == 8);
static_assert(offsetof(steno_event, stable) == 64 && offsetof(steno_event, endpoint) == 68);
static_assert(offsetof(steno_event, has_eot_confidence) == 72 && offsetof(steno_event, eot_confidence) == 80);
