// Live: results while the audio comes in.
//
//   arecord -t raw -f S16_LE -r 16000 | example-live MODEL.gguf
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

#include <steno/pipelines/transcriber.hpp>
// README begins
#include <steno/pipelines/any_session.hpp>
// README ends

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s MODEL.gguf < 16 kHz, mono, 16 bits\n", argv[0]), 2;
  const auto read_portion = [](std::vector<float>& pcm) { return read_raw(raw_input(), pcm); };
  try {
    const steno::transcriber t(argv[1]);
    steno::context context;
    std::vector<float> samples;
    // README begins
    steno::any_session session(t, {}, context);  // any model

    const auto show = [](const steno::session_event& e) {  // a partial result may change behind e.stable
      std::printf("%s %s\n", e.final() ? "final  " : "partial", e.utterance.text.c_str());
    };
    while (read_portion(samples)) session.push(samples, context, show);  // portions of any size
    session.finish(context, show);
    // README ends
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
