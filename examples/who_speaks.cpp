// Who speaks when.
//
//   example-who_speaks SORTFORMER.gguf RECORDING.wav             (16 kHz, mono, 16 bits)
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

// library begins
#include <steno/pipelines/diarizer.hpp>
// library ends

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s SORTFORMER.gguf RECORDING.wav\n", argv[0]), 2;
  try {
    const std::vector<float> pcm = read_wav(argv[2]);
    steno::context context;
    // library begins
    const steno::diarizer d(argv[1]);
    const steno::result r = d.diarize(pcm, {}, context);  // or a steno::diarization: push() as the recording comes
    for (const steno::segment& s : r.segments) std::printf("%.2f %.2f %s\n", s.start, s.end, s.speaker->c_str());
    // library ends
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
