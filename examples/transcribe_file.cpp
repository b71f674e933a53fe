// Any model, chosen by its file: the text of a recording.
//
//   example-transcribe_file MODEL.gguf RECORDING.wav             (16 kHz, mono, 16 bits)
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

// README begins
#include <steno/pipelines/transcriber.hpp>
// README ends

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf RECORDING.wav\n", argv[0]), 2;
  try {
    const std::vector<float> pcm = read_wav(argv[2]);
    // README begins
    const steno::transcriber t(argv[1]);  // a model file; throws steno::error
    steno::context context;               // scratch memory and threads of one caller

    const steno::result r = t.transcribe(pcm, {.language = "en"}, context);  // mono floats at t.sample_rate()
    std::puts(r.text.c_str());
    // README ends
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
