// One recording with one model, once for each instruction set that there is: the least of many times, in milliseconds.
//
//   levels MODEL.gguf RECORDING.wav ROUNDS          (16 kHz, mono, 16 bits)
// SPDX-License-Identifier: Apache-2.0
#include "wav.hpp"

#include <steno/kernels/cpu.hpp>
#include <steno/pipelines/sense_voice.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s MODEL.gguf RECORDING.wav ROUNDS\n", argv[0]), 2;
  try {
    const std::vector<float> pcm = read_wav(argv[2]);
    const int rounds = std::atoi(argv[3]);
    for (const steno::kernels::isa level : steno::kernels::isa_levels) {
      if (!steno::kernels::has_isa(level)) continue;
      steno::kernels::limit_isa(level);
      steno::context context;
      const auto model = steno::load<steno::funasr::sense_voice_any>(argv[1]);
      double least = 1e30;
      for (int i = 0; i < rounds; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const steno::result r = steno::transcribe(model, pcm, {}, context);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        if (r.text.empty()) return std::fprintf(stderr, "no text\n"), 1;
        if (took.count() < least) least = took.count();
      }
      std::printf("%s %.3f\n", std::string(steno::kernels::name_of(level)).c_str(), least);
    }
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
