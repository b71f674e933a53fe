#include "raw_pcm.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace steno::app {
namespace {

constexpr const char* where = "standard input";

class raw_pcm final : public sample_source {
 public:
  raw_pcm(std::FILE* stream, pcm_format format) : stream_(stream), format_(format) {
    if (::isatty(::fileno(stream)) != 0)
      fail({.where = where,
            .what = "is a terminal, and AUDIO \"-\" reads raw PCM",
            .hint = "pipe audio into the program"});
    fill(4);
    for (const char* magic : {"RIFF", "RF64", "fLaC", "OggS", "FORM"})
      if (bytes_.size() >= 4 && std::memcmp(bytes_.data(), magic, 4) == 0)
        fail({.where = where,
              .what = "begins like a sound file (" + std::string(magic) +
                      "), and AUDIO \"-\" reads raw PCM without a header",
              .hint = "give the file's name, or pipe ffmpeg -i FILE -f s16le -ac 1 -ar 16000 -"});
  }

  int rate() const override { return format_.rate; }
  double seconds() const override { return -1.0; }

  std::size_t read(std::span<float> mono) override {
    const std::size_t width = format_.encoding == pcm_encoding::s16le ? 2 : 4;
    fill(std::min<std::size_t>(mono.size(), 65536) * width);
    const std::size_t count = std::min(bytes_.size() / width, mono.size());
    for (std::size_t i = 0; i < count; ++i) mono[i] = sane(sample(bytes_.data() + i * width));
    if (count == 0) finish();
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count * width));
    any_ = any_ || count != 0;
    return count;
  }

 private:
  // Tops the buffer up to `want` bytes unless the stream ends first.
  void fill(std::size_t want) {
    const std::size_t have = bytes_.size();
    if (have >= want) return;
    bytes_.resize(want);
    bytes_.resize(have + std::fread(bytes_.data() + have, 1, want - have, stream_));
    if (std::ferror(stream_) != 0) fail({.where = where, .what = std::string("cannot read: ") + std::strerror(errno)});
  }

  float sample(const std::uint8_t* p) const {
    if (format_.encoding == pcm_encoding::s16le)
      return static_cast<float>(static_cast<std::int16_t>(p[0] | p[1] << 8)) * 0x1p-15f;
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < 4; ++i) bits |= static_cast<std::uint32_t>(p[i]) << (8 * i);
    return std::bit_cast<float>(bits);
  }

  void finish() {
    if (!bytes_.empty())
      warn("the last sample is incomplete (" + std::to_string(bytes_.size()) + " bytes) and left out");
    bytes_.clear();
    report_bad_samples();
    if (!any_) fail({.where = where, .what = "has no audio in it (0 samples)"});
  }

  std::FILE* stream_;
  pcm_format format_;
  std::vector<std::uint8_t> bytes_;
  bool any_ = false;
};

}  // namespace

std::optional<pcm_encoding> find_pcm_encoding(std::string_view name) {
  if (name == "s16le") return pcm_encoding::s16le;
  if (name == "f32le") return pcm_encoding::f32le;
  return std::nullopt;
}

std::unique_ptr<sample_source> open_raw_pcm(std::FILE* stream, pcm_format format) {
  return std::make_unique<raw_pcm>(stream, format);
}

}  // namespace steno::app
