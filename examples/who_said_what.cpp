// Who said what: a recording as it comes in, in constant memory; a line for each turn.
//
//   example-who_said_what MODEL.gguf SORTFORMER.gguf < 16 kHz, mono, 16 bits
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

#include <steno/pipelines/speaker_labels.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <cstdio>
#include <utility>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf SORTFORMER.gguf\n", argv[0]), 2;
  const auto read_portion = [](std::vector<float>& pcm) { return read_raw(raw_input(), pcm); };
  try {
    steno::context context;
    std::vector<float> samples;
    // library begins
    const steno::transcriber t(argv[1]);
    const steno::diarizer d(argv[2]);
    steno::any_recording recording(t, {});
    steno::pipelines::speaker_labels who(d);  // beside one recording
    const auto add = [&](steno::segment s) { who.add(std::move(s)); };
    const auto show = [](const steno::segment& s) {
      std::printf("%7.2f %s: %s\n", s.start, s.speaker.value_or("?").c_str(), s.text.c_str());
    };
    while (read_portion(samples)) {  // portions of any size
      who.push(samples, context);
      recording.push(samples, context, add);
      who.forget(recording.needed_from());  // memory does not grow with the recording
      who.take(show);                       // what is settled
    }
    who.close(context);
    recording.finish(context, add);
    who.take(show);
    // library ends
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
