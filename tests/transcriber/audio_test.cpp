// SPDX-License-Identifier: Apache-2.0
#include "audio.hpp"

#include <steno/core/bit_cast.hpp>
#include <steno/error.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <numbers>

#include "mpeg_frames.hpp"
#include "sound_stream.hpp"
#include "sounds.hpp"
#include "support/golden.hpp"

namespace audio_test {

namespace fs = std::filesystem;
using steno::app::audio_reader;
using steno::app::read_all;
using steno::test::sine;
using steno::test::write_sound;
using steno::test::write_wav;

std::vector<float> load(const std::string& path, int rate = 16000) {
  audio_reader reader(path, rate);
  return read_all(reader);
}

std::string message(const std::string& path) {
  try {
    load(path);
  } catch (const steno::error& e) {
    return e.what();
  }
  return "no error";
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Noise, because a compressed tone is too short to be cut.
std::vector<float> noise(std::size_t count) {
  std::vector<float> x(count);
  std::uint32_t state = 1;
  for (float& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
  }
  return x;
}

// Amplitude of the component at `hertz`, by projection on sine and cosine over the middle half.
double amplitude(const std::vector<float>& x, double hertz, int rate) {
  double re = 0, im = 0;
  const std::size_t from = x.size() / 4, to = from + x.size() / 2;
  for (std::size_t t = from; t < to; ++t) {
    const double phase = 2.0 * std::numbers::pi * hertz * static_cast<double>(t) / rate;
    re += static_cast<double>(x[t]) * std::cos(phase);
    im += static_cast<double>(x[t]) * std::sin(phase);
  }
  return 2.0 * std::hypot(re, im) / static_cast<double>(to - from);
}

TEST(audio, sixteen_bit_wav_at_the_models_rate_has_the_files_own_values) {
  const steno::test::temporary_directory dir;
  const std::vector<short> values = {0, 16384, -32768, 32767, -1};
  const std::string path = write_wav(dir.path() / "a.wav", 1.0);
  std::string bytes = read_bytes(path);
  std::memcpy(bytes.data() + bytes.size() - 10, values.data(), 10);
  write_bytes(path, bytes);
  const std::vector<float> x = load(path);
  ASSERT_EQ(x.size(), 16000u);
  EXPECT_EQ(std::vector<float>(x.end() - 5, x.end()),
            (std::vector<float>{0.0f, 0.5f, -1.0f, 32767.0f / 32768.0f, -1.0f / 32768.0f}));
}

TEST(audio, channels_are_averaged) {
  const steno::test::temporary_directory dir;
  const std::vector<float> frames = {0.5f, 0.25f, -0.5f, 0.5f};
  const auto x = load(write_sound(dir.path() / "a.wav", frames, 16000, 2, SF_FORMAT_WAV | SF_FORMAT_FLOAT));
  EXPECT_EQ(x, (std::vector<float>{0.375f, 0.0f}));
}

struct container {
  const char* name;
  int format;
  int rate;
};

class containers : public testing::TestWithParam<container> {};

// A stereo sine of 1 kHz comes out at 16 kHz with its frequency, amplitude and length. Amplitude within 2 %: the lossy
// formats are the bound; wav and flac are within 0.01 %.
TEST_P(containers, keep_a_sine) {
  const container c = GetParam();
  const steno::test::temporary_directory dir;
  const std::vector<float> gains = {1.0f, 0.5f};  // mean 0.75, of amplitude 0.5
  const auto x = load(write_sound(dir.path() / c.name, sine(1000, c.rate, 2.0, gains), c.rate, 2, c.format));
  EXPECT_NEAR(amplitude(x, 1000, 16000), 0.375, 0.375 * 0.02);
  EXPECT_NEAR(amplitude(x, 1100, 16000), 0.0, 0.375 * 0.02);
  EXPECT_NEAR(static_cast<double>(x.size()) / 16000, 2.0, 0.1);  // mp3 pads to whole frames
}

INSTANTIATE_TEST_SUITE_P(all, containers,
                         testing::Values(container{"a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 44100},
                                         container{"b.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 8000},
                                         container{"c.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 44100},
                                         container{"d.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100},
                                         container{"e.opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000},
                                         container{"f.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100},
                                         container{"g.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 22050}));

TEST(audio, resampling_keeps_amplitude_closely_and_length_exactly) {
  const steno::test::temporary_directory dir;
  const auto x =
      load(write_sound(dir.path() / "a.wav", sine(1000, 44100, 2.0), 44100, 1, SF_FORMAT_WAV | SF_FORMAT_FLOAT));
  EXPECT_EQ(x.size(), 32000u);
  EXPECT_NEAR(amplitude(x, 1000, 16000), 0.5, 5e-5);  // soxr's HQ recipe is specified to 20 bits in the pass band
}

// What lies above the new Nyquist frequency must not come back below it: 10 kHz would alias to 6 kHz.
TEST(audio, resampling_does_not_alias) {
  const steno::test::temporary_directory dir;
  const auto x =
      load(write_sound(dir.path() / "a.wav", sine(10000, 44100, 2.0), 44100, 1, SF_FORMAT_WAV | SF_FORMAT_FLOAT));
  EXPECT_LT(amplitude(x, 6000, 16000), 0.5e-5);  // 100 dB below the input
}

TEST(audio, blocks_of_any_size_give_the_same_bits) {
  const steno::test::temporary_directory dir;
  for (const int rate : {16000, 44100, 8000}) {
    const auto path = write_sound(dir.path() / "a.wav", sine(333, rate, 3.0, {1.0f, 0.3f}), rate, 2,
                                  SF_FORMAT_WAV | SF_FORMAT_PCM_16);
    const std::vector<float> whole = load(path);
    for (const std::size_t size : {1u, 7u, 160u, 4096u, 1000000u}) {
      audio_reader reader(path, 16000);
      std::vector<float> pieces, block(size);
      while (const std::size_t n = reader.read(block))
        pieces.insert(pieces.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(pieces, whole) << rate << " Hz, blocks of " << size;
    }
  }
}

TEST(audio, a_hundred_channels) {
  const steno::test::temporary_directory dir;
  const auto x = load(write_sound(dir.path() / "a.wav", sine(500, 16000, 0.5, std::vector<float>(100, 1.0f)), 16000,
                                  100, SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  ASSERT_EQ(x.size(), 8000u);
  EXPECT_NEAR(amplitude(x, 500, 16000), 0.5, 1e-4);  // 16-bit steps are 3e-5
}

TEST(audio, errors_name_the_file_and_the_reason) {
  const steno::test::temporary_directory dir;
  const auto path = [&](const char* name) { return (dir.path() / name).string(); };
  EXPECT_EQ(message(path("none.wav")), path("none.wav") + ": No such file or directory");
  EXPECT_EQ(message(dir.path().string()), dir.path().string() + ": is a directory without sound files");
  write_bytes(path("empty.wav"), "");
  EXPECT_EQ(message(path("empty.wav")), path("empty.wav") + ": the file is empty (0 bytes)");
  write_bytes(path("text.wav"), "This is a text and no sound at all, however it is named.");
  EXPECT_EQ(
      message(path("text.wav")),
      path("text.wav") + ": cannot read it as audio: Format not recognised (ffmpeg is switched off: --ffmpeg none)");
  write_sound(path("zero.wav"), {}, 16000, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  EXPECT_EQ(message(path("zero.wav")), path("zero.wav") + ": has no audio in it (0 frames)");
  write_wav(path("slow.wav"), 0.5, 100);
  EXPECT_EQ(message(path("slow.wav")), path("slow.wav") + ": sample rate: expected 1000 to 1000000 Hz, found 100 Hz");
  write_bytes(path("head.wav"), read_bytes(write_wav(path("good.wav"), 0.5)).substr(0, 30));
  EXPECT_NE(message(path("head.wav")).find(path("head.wav") + ": cannot read it as audio: "), std::string::npos);
}

TEST(audio, truncated_files_give_what_is_there_and_a_warning) {
  const steno::test::temporary_directory dir;
  const auto cut = [&](const char* name, int format, double part) {
    const std::string path = write_sound(dir.path() / name, noise(64000), 16000, 1, format);
    const std::string bytes = read_bytes(path);
    write_bytes(path, bytes.substr(0, static_cast<std::size_t>(static_cast<double>(bytes.size()) * part)));
    return path;
  };
  for (const auto& path :
       {cut("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 0.5), cut("b.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 0.7),
        cut("c.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0.7), cut("d.opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 0.7),
        cut("e.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 0.7),
        cut("f.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 0.7), cut("g.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_16, 0.7),
        cut("i.au", SF_FORMAT_AU | SF_FORMAT_PCM_16, 0.7), cut("j.rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 0.7)}) {
    audio_reader reader(path, 16000);
    const std::vector<float> x = read_all(reader);
    EXPECT_GT(x.size(), 16000u) << path;
    EXPECT_LT(x.size(), 64000u) << path;
    EXPECT_EQ(reader.warnings().size(), 1u) << path;
    EXPECT_TRUE(reader.damaged()) << path;
  }
  audio_reader whole(write_wav(dir.path() / "whole.wav", 1.0), 16000);
  EXPECT_EQ(read_all(whole).size(), 16000u);
  EXPECT_TRUE(whole.warnings().empty());
}

TEST(audio, a_wav_of_unknown_length_is_no_reason_to_warn) {
  const steno::test::temporary_directory dir;
  const std::string path = write_wav(dir.path() / "a.wav", 1.0);
  std::string bytes = read_bytes(path);
  const std::size_t at = bytes.find("data");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + 4, 4, "\xff\xff\xff\xff");
  bytes.replace(4, 4, "\xff\xff\xff\xff");
  write_bytes(path, bytes);
  audio_reader reader(path, 16000);
  EXPECT_EQ(read_all(reader).size(), 16000u);
  EXPECT_TRUE(reader.warnings().empty());
}

TEST(audio, values_that_are_no_samples_become_silence) {
  const steno::test::temporary_directory dir;
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  audio_reader reader(write_sound(dir.path() / "a.wav", {0.5f, nan, infinity, -1e30f, 0.25f}, 16000, 1,
                                  SF_FORMAT_WAV | SF_FORMAT_FLOAT),
                      16000);
  EXPECT_EQ(read_all(reader), (std::vector<float>{0.5f, 0, 0, 0, 0.25f}));
  EXPECT_TRUE(reader.damaged());
  EXPECT_EQ(reader.warnings(), (std::vector<std::string>{"3 samples are not numbers or far too large; taken as 0"}));
}

// MP3 files as other encoders write them: without a frame that counts the others, with tags in front and behind.
TEST(audio, a_cut_mp3_is_known_by_its_last_frame) {
  const auto missing = [](const std::string& bytes) {
    return steno::app::missing_of_mpeg(bytes.size(), [&](std::uint64_t at, std::span<std::uint8_t> to) {
      if (at + to.size() > bytes.size()) return false;
      std::memcpy(to.data(), bytes.data() + at, to.size());
      return true;
    });
  };
  const std::string frame = std::string("\xff\xfb\x90\xc0", 4) + std::string(413, '\0');  // 128 kbit/s, 44.1 kHz: 417
  const std::string tag = std::string("ID3\3\0\0\0\0\1\0", 10) + std::string(128, 'x');
  for (const std::string& front : {std::string(), tag, tag + tag}) {
    const std::string whole = front + frame + frame + frame;
    EXPECT_EQ(missing(whole), std::nullopt);
    EXPECT_EQ(missing(whole + "TAG" + std::string(125, ' ')), std::nullopt);
    EXPECT_EQ(missing(whole.substr(0, whole.size() - 17)), "400 of 417 bytes of its last frame are there");
  }
  EXPECT_EQ(missing("RIFF....WAVE"), std::nullopt);
  EXPECT_EQ(missing(""), std::nullopt);
}

TEST(audio, channels_that_cancel_each_other_out_are_told) {
  const steno::test::temporary_directory dir;
  const auto warnings = [&](const std::vector<float>& gains) {
    audio_reader reader(write_sound(dir.path() / "a.wav", sine(440, 16000, 0.5, gains), 16000,
                                    static_cast<int>(gains.size()), SF_FORMAT_WAV | SF_FORMAT_FLOAT),
                        16000);
    read_all(reader);
    EXPECT_FALSE(reader.damaged());
    return reader.warnings();
  };
  ASSERT_EQ(warnings({1.0f, -1.0f}).size(), 1u);
  EXPECT_NE(warnings({1.0f, -1.0f})[0].find("opposite phase"), std::string::npos);
  EXPECT_EQ(warnings({1.0f, -0.99f}).size(), 1u);
  for (const auto& gains : {std::vector<float>{1.0f}, {1.0f, 1.0f}, {1.0f, 0.0f}, {0.0f, 0.0f}, {1.0f, -0.5f}})
    EXPECT_TRUE(warnings(gains).empty());
}

class sound_stream : public testing::Test {
 protected:
  std::vector<float> read(const std::string& bytes, std::optional<steno::app::pcm_format> format,
                          std::size_t block_size = 100) {
    std::FILE* file = std::tmpfile();
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::rewind(file);
    std::vector<float> all, block(block_size);
    warnings.clear();
    error.clear();
    try {
      steno::app::channel_reader source(steno::app::open_sound_stream({::fileno(file), "the stream"}, format),
                                        "the stream", {}, {});
      while (const std::size_t n = source.read(0, block))
        all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
      warnings = source.warnings();
      rate = source.rate();
    } catch (const steno::error& e) {
      error = e.what();
    }
    std::fclose(file);
    return all;
  }
  static constexpr steno::app::pcm_format raw = {};
  std::vector<std::string> warnings;
  std::string error;
  int rate = 0;
};

TEST_F(sound_stream, sixteen_bits) {
  const std::string bytes("\x00\x40\x00\x80\xff\x7f\xff\xff\x01", 9);
  for (const std::size_t block : {1u, 3u, 100u}) {
    EXPECT_EQ(read(bytes, raw, block), (std::vector<float>{0.5f, -1.0f, 32767.0f / 32768.0f, -1.0f / 32768.0f}));
    EXPECT_EQ(warnings, (std::vector<std::string>{"the last sample is incomplete (1 bytes) and left out"}));
  }
}

TEST_F(sound_stream, floats) {
  std::string bytes;
  for (const float value : {0.25f, -0.75f})
    for (unsigned i = 0; i < 4; ++i)
      bytes += static_cast<char>(steno::core::bit_cast<std::uint32_t>(value) >> (8 * i) & 0xffu);
  EXPECT_EQ(read(bytes, {{steno::app::pcm_encoding::f32le, 16000}}, 5), (std::vector<float>{0.25f, -0.75f}));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(sound_stream, channels_are_averaged) {
  const std::string bytes("\x00\x40\x00\x20\x00\x80\x00\x00", 8);
  EXPECT_EQ(read(bytes, {{.channels = 2}}, 1), (std::vector<float>{0.375f, -0.5f}));
}

TEST_F(sound_stream, nothing_and_what_is_not_read) {
  EXPECT_TRUE(read("", raw).empty());
  EXPECT_EQ(error, "the stream: has no audio in it (0 samples)");
  EXPECT_TRUE(read("noise without a header", std::nullopt).empty());
  EXPECT_NE(error.find("the stream: cannot read it as audio"), std::string::npos) << error;
  EXPECT_TRUE(read(std::string("\0\0\0\x20", 4) + "ftypM4A more", raw).empty());
  EXPECT_NE(error.find("MP4"), std::string::npos) << error;
}

// What a container holds is the same from a file and from a stream, and where it is cut, too.
TEST_F(sound_stream, containers_are_decoded) {
  const steno::test::temporary_directory dir;
  struct {
    const char* name;
    int format;
    int channels = 1;
  } cases[] = {{"a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16},
               {"b.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 2},
               {"c.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_32},
               {"d.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 3},
               {"e.wav", SF_FORMAT_WAV | SF_FORMAT_DOUBLE},
               {"f.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 2},
               {"g.wav", SF_FORMAT_WAVEX | SF_FORMAT_PCM_16, 2},
               {"h.wav", SF_FORMAT_WAV | SF_FORMAT_ULAW},
               {"i.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 2},
               {"j.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
               {"k.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III},
               {"l.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16},
               {"m.au", SF_FORMAT_AU | SF_FORMAT_PCM_16},
               {"n.caf", SF_FORMAT_CAF | SF_FORMAT_PCM_16}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string path = write_sound(dir.path() / c.name, noise(32000 * static_cast<std::size_t>(c.channels)), 8000,
                                         c.channels, c.format);
    for (const bool cut : {false, true}) {
      SCOPED_TRACE(cut);
      std::string bytes = read_bytes(path);
      if (cut && c.format >> 16 == SF_FORMAT_CAF >> 16) continue;  // libsndfile does not read such a file
      if (cut) bytes.resize(bytes.size() * 3 / 4);
      write_bytes(path, bytes);
      audio_reader file(path, 8000);
      const std::vector<float> whole = read_all(file);
      for (const auto& format : {std::optional<steno::app::pcm_format>(raw), std::optional<steno::app::pcm_format>()}) {
        EXPECT_EQ(read(bytes, format), whole) << error;
        EXPECT_EQ(rate, 8000);
        EXPECT_EQ(warnings.size(), file.warnings().size());
      }
    }
  }
}

}  // namespace audio_test
