// The shortest program: a model, a recording, its text and when each word was said.
//
//   example-transcribe_recording MODEL.gguf RECORDING.wav        (16 kHz, mono, 16 bits)
#include <steno/core/thread_pool.hpp>
#include <steno/models/sense_voice.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>

// The samples of a plain WAV file: 44 bytes of header, then 16-bit integers. Real programs use libsndfile and soxr, as
// examples/transcriber does.
static std::vector<float> read_samples(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<float> pcm;
  for (std::size_t i = 44; i + 1 < bytes.size(); i += 2)
    pcm.push_back(
        static_cast<float>(static_cast<std::int16_t>(static_cast<unsigned char>(bytes[i]) | bytes[i + 1] << 8)) /
        32768);
  return pcm;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf RECORDING.wav\n", argv[0]), 2;
  try {
    const auto model = steno::load<steno::sense_voice_any>(std::string(argv[1]));
    steno::thread_pool threads;                        // yours: share it, or leave it out for one thread
    steno::context context{steno::executor(threads)};  // scratch memory of one stream
    const steno::result heard = model.transcribe(read_samples(argv[2]), {}, context);
    std::printf("%s\n", heard.text.c_str());
    for (const steno::segment& s : heard.segments)
      for (const steno::word& w : s.words) std::printf("%7.2f %7.2f  %s\n", w.start, w.end, w.text.c_str());
  } catch (const steno::error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
