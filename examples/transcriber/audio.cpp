#include "audio.hpp"

#include "sound_file.hpp"

namespace steno::app {

audio_reader::audio_reader(const std::string& path, int rate, pcm_format stdin_format)
    : source_(path == "-" ? open_raw_pcm(stdin, stdin_format) : open_sound_file(path)), resampler_(*source_, rate) {}

std::vector<float> read_all(audio_reader& reader) {
  std::vector<float> samples, block(65536);
  while (const std::size_t n = reader.read(block))
    samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  return samples;
}

}  // namespace steno::app
