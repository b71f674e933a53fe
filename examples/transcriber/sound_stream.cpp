#include "sound_stream.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "mpeg_frames.hpp"
#include "sound_file.hpp"

namespace steno::app {
namespace {

using byte_vector = std::vector<std::uint8_t>;

constexpr std::size_t looked_at = 4096;          // holds two frames of any MPEG stream
constexpr std::size_t longest_header = 1 << 24;  // of what stands before a WAV file's samples

bool has(const byte_vector& b, std::size_t at, std::string_view magic) {
  return b.size() >= at + magic.size() && std::memcmp(b.data() + at, magic.data(), magic.size()) == 0;
}
std::uint32_t number(const byte_vector& b, std::size_t at, std::size_t bytes) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < bytes; ++i) v |= static_cast<std::uint32_t>(b[at + i]) << (8 * i);
  return v;
}

bool is_wav(const byte_vector& b) { return (has(b, 0, "RIFF") || has(b, 0, "RF64")) && has(b, 8, "WAVE"); }

bool is_container(const byte_vector& b) {
  for (const char* magic : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", ".snd", "caff", "ID3"})
    if (has(b, 0, magic)) return true;
  return has(b, 0, "riff\x2e\x91\xcf\x11") || begins_as_mpeg(b);
}

// A name for what libsndfile does not read, so that it is not taken for samples.
const char* foreign(const byte_vector& b) {
  if (has(b, 4, "ftyp")) return "MP4 or M4A";
  if (has(b, 0, "\x1a\x45\xdf\xa3")) return "Matroska or WebM";
  if (has(b, 0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11")) return "WMA";
  return nullptr;
}

// A file without a name that holds the whole stream.
std::unique_ptr<sample_source> decode_all(byte_stream& stream, byte_vector begun) {
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, close> file(std::tmpfile());
  const auto cannot = [&] {
    fail({.where = stream.name(), .what = std::string("cannot keep it in a temporary file: ") + std::strerror(errno)});
  };
  if (!file) cannot();
  while (!begun.empty()) {
    if (std::fwrite(begun.data(), 1, begun.size(), file.get()) != begun.size()) cannot();
    begun.clear();
    stream.fill(begun, 65536);
  }
  if (std::fflush(file.get()) != 0) cannot();
  std::rewind(file.get());
  return open_sound_file(::dup(::fileno(file.get())), stream.name());
}

// Reads up to the first sample. Anything but plain PCM is left to libsndfile.
std::unique_ptr<sample_source> open_wav(byte_stream stream, byte_vector head) {
  pcm_format format;
  bool known = false;
  std::size_t at = 12;
  const auto chunk = [&](std::size_t bytes) {
    stream.fill(head, at + bytes);
    return head.size() >= at + bytes;
  };
  while (chunk(8)) {
    const std::size_t size = number(head, at + 4, 4);
    if (has(head, at, "data")) {
      if (!known) break;
      const std::size_t begin = at + 8;
      const bool open_end = size == 0 || size >= 0x7fff0000u;  // its writer did not know the length
      head.erase(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(begin));
      return open_pcm(std::move(stream), std::move(head), format,
                      open_end ? std::nullopt : std::optional<std::uint64_t>(size));
    }
    if (size > longest_header || head.size() > longest_header || !chunk(8 + size + size % 2)) break;
    if (has(head, at, "fmt ") && size >= 16) {
      std::uint32_t kind = number(head, at + 8, 2);
      const std::uint32_t bits = number(head, at + 22, 2);
      if (kind == 0xfffe && size >= 26) kind = number(head, at + 32, 2);
      format.channels = static_cast<int>(number(head, at + 10, 2));
      const std::uint32_t rate = number(head, at + 12, 4);
      known = format.channels > 0 && rate >= 1000 && rate <= 1000000;
      format.rate = known ? static_cast<int>(rate) : 0;
      if (kind == 1 && bits == 8)
        format.encoding = pcm_encoding::u8;
      else if (kind == 1 && bits == 16)
        format.encoding = pcm_encoding::s16le;
      else if (kind == 1 && bits == 24)
        format.encoding = pcm_encoding::s24le;
      else if (kind == 1 && bits == 32)
        format.encoding = pcm_encoding::s32le;
      else if (kind == 3 && bits == 32)
        format.encoding = pcm_encoding::f32le;
      else if (kind == 3 && bits == 64)
        format.encoding = pcm_encoding::f64le;
      else
        known = false;
      if (number(head, at + 20, 2) != static_cast<std::uint32_t>(format.channels) * bits / 8) known = false;
    }
    at += 8 + size + size % 2;
  }
  return decode_all(stream, std::move(head));
}

}  // namespace

std::unique_ptr<sample_source> open_sound_stream(byte_stream stream, std::optional<pcm_format> raw) {
  if (::isatty(stream.descriptor()) != 0)
    fail({.where = stream.name(),
          .what = "is a terminal, and AUDIO \"-\" reads sound",
          .hint = "pipe audio into the program"});
  byte_vector head;
  stream.fill(head, 12);
  // Only what may be MPEG is waited for until two frames are there.
  if (head.size() >= 2 && head[0] == 0xff && (head[1] & 0xe0) == 0xe0) stream.fill(head, looked_at);
  if (is_wav(head)) return open_wav(std::move(stream), std::move(head));
  if (is_container(head)) return decode_all(stream, std::move(head));
  if (const char* const kind = foreign(head))
    fail({.where = stream.name(),
          .what = std::string("begins like ") + kind + ", which is not read",
          .hint = "convert it: ffmpeg -i FILE -ac 1 -ar 16000 out.wav"});
  if (!raw)
    fail({.where = stream.name(),
          .what = "cannot read it as audio: Format not recognised",
          .hint = "raw PCM is read from standard input: steno - <" + stream.name()});
  return open_pcm(std::move(stream), std::move(head), *raw);
}

}  // namespace steno::app
