// What the library finds, out of its structs. Where their fields lie: layout.cpp.
// SPDX-License-Identifier: Apache-2.0

function maybe_text(module, at) {
  return at === 0 ? null : module.UTF8ToString(at);
}

function word_at(module, at) {
  const times = module.HEAP32[(at + 24) >> 2] !== 0;
  return {
    text: module.UTF8ToString(module.HEAPU32[(at + 28) >> 2]),
    start: times ? module.HEAPF64[(at + 8) >> 3] : null,
    end: times ? module.HEAPF64[(at + 16) >> 3] : null,
    confidence: module.HEAPF32[(at + 32) >> 2],
    speaker: maybe_text(module, module.HEAPU32[(at + 36) >> 2]),
  };
}

/** read_word(index, word) fills a struct. */
function segment_at(module, scratch, at, read_word) {
  const count = module.HEAPU32[(at + 36) >> 2];
  const segment = {
    text: module.UTF8ToString(module.HEAPU32[(at + 24) >> 2]),
    start: module.HEAPF64[(at + 8) >> 3],
    end: module.HEAPF64[(at + 16) >> 3],
    words: [],
    language: maybe_text(module, module.HEAPU32[(at + 28) >> 2]),
    speaker: maybe_text(module, module.HEAPU32[(at + 32) >> 2]),
    score: module.HEAP32[(at + 40) >> 2] !== 0 ? module.HEAPF64[(at + 48) >> 3] : null,
  };
  const word = count === 0 ? 0 : scratch.take(40);
  for (let i = 0; i < count; ++i) {
    module.HEAPU32[word >> 2] = 40;
    if (read_word(i, word) === 0) segment.words.push(word_at(module, word));
  }
  return segment;
}

/** A steno_result, which is given back. */
export function take_result(module, scratch, result) {
  try {
    const segments = [];
    const at = scratch.take(56);
    for (let i = 0; i < module._steno_result_segment_count(result); ++i) {
      module.HEAPU32[at >> 2] = 56;
      if (module._steno_result_segment(result, i, at) !== 0) continue;
      segments.push(segment_at(module, scratch, at, (word, to) => module._steno_result_word(result, i, word, to)));
    }
    return {
      text: module.UTF8ToString(module._steno_result_text(result)),
      segments,
      duration: module._steno_result_duration(result),
      language: maybe_text(module, module._steno_result_language(result)),
    };
  } finally {
    module._steno_result_free(result);
  }
}

/** A steno_event, which lives as long as the call that it came in. */
export function event_at(module, scratch, at) {
  const utterance = segment_at(module, scratch, at + 8, (word, to) => module._steno_event_word(at, word, to));
  const stable = new TextEncoder().encode(utterance.text).subarray(0, module.HEAPU32[(at + 64) >> 2]);
  return {
    final: module.HEAP32[(at + 4) >> 2] !== 0,
    utterance,
    stable: new TextDecoder().decode(stable),
    endpoint: maybe_text(module, module.HEAPU32[(at + 68) >> 2]),
    eot_confidence: module.HEAP32[(at + 72) >> 2] !== 0 ? module.HEAPF64[(at + 80) >> 3] : null,
  };
}
