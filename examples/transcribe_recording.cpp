// One family as a type: a model, a recording, its text and the times of its words.
//
//   example-transcribe_recording MODEL.gguf RECORDING.wav        (16 kHz, mono, 16 bits)
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

#include <steno/core/thread_pool.hpp>
// README begins
#include <steno/pipelines/sense_voice.hpp>
// README ends

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf RECORDING.wav\n", argv[0]), 2;
  try {
    const std::vector<float> pcm = read_wav(argv[2]);
    // library begins
    steno::thread_pool threads;                        // yours: share it, or leave it out for one thread
    steno::context context{steno::executor(threads)};  // scratch memory of one caller
    // library ends
    // README begins
    const auto model = steno::load<steno::funasr::sense_voice_any>(argv[1]);
    const steno::result r = steno::transcribe(model, pcm, {}, context);
    // README ends
    std::printf("%s\n", r.text.c_str());
    for (const steno::segment& s : r.segments)
      for (const steno::word& w : s.words) std::printf("%7.2f %7.2f  %s\n", w.start, w.end, w.text.c_str());
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
