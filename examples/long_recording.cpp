// A recording of any length: cut at pauses that a detector finds, each segment as soon as it is complete.
//
//   example-long_recording MODEL.gguf energy|VAD.gguf < 16 kHz, mono, 16 bits
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

#include <steno/pipelines/transcriber.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf energy|VAD.gguf\n", argv[0]), 2;
  const auto read_portion = [](std::vector<float>& pcm) { return read_raw(raw_input(), pcm); };
  try {
    const steno::transcriber t(argv[1]);
    steno::context context;
    std::vector<float> samples;
    // library begins
    const steno::any_vad vad = steno::open_vad(argv[2]);  // "energy", or a file
    steno::any_recording recording(t, {.vad = &vad});
    const auto show = [](const steno::segment& s) { std::printf("%7.2f %7.2f  %s\n", s.start, s.end, s.text.c_str()); };
    while (read_portion(samples)) recording.push(samples, context, show);  // portions of any size
    recording.finish(context, show);
    // library ends
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
