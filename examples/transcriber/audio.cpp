// SPDX-License-Identifier: Apache-2.0
#include "audio.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "ffmpeg.hpp"
#include "media_kinds.hpp"
#include "signals.hpp"
#include "sound_file.hpp"
#include "sound_stream.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace {

namespace fs = std::filesystem;

class open_file {
 public:
  explicit open_file(const std::string& path) : fd_(system::open_to_read(path)) {
    if (fd_ < 0) fail({.where = path, .what = std::strerror(errno)});
  }
  ~open_file() { ::close(fd_); }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void check_path(const std::string& path, const fs::file_status& status, const std::error_code& failed) {
  if (failed || !fs::exists(status))
    fail({.where = path, .what = failed ? failed.message() : "No such file or directory"});
  if (fs::is_directory(status)) fail({.where = path, .what = "is a directory without sound files"});
  std::error_code unknown;
  if (fs::is_regular_file(status) && fs::file_size(utf8_path(path), unknown) == 0 && !unknown)
    fail({.where = path, .what = "the file is empty (0 bytes)"});
}

// `open` lets libsndfile open it, too.
template <class Open>
std::unique_ptr<sample_source> open_recording(int file, const std::string& name, const std::string& ffmpeg,
                                              Open&& open) {
  std::array<std::uint8_t, media_head> head;
  const std::ptrdiff_t n = system::read_at(file, head.data(), head.size(), 0);
  const auto begin = std::span<const std::uint8_t>(head).first(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (const std::string_view kind = media_kind(begin); !kind.empty()) {
    if (!has_ffmpeg(ffmpeg)) fail(ffmpeg_is_missing(name, kind, ffmpeg));
    return open_with_ffmpeg(ffmpeg, {.file = file}, name);
  }
  try {
    return open();
  } catch (const unreadable_sound& e) {
    return open_instead(e, file, name, ffmpeg);
  }
}

std::unique_ptr<sample_source> open_descriptor(int file, const std::string& name, const std::string& ffmpeg) {
  if (::lseek(file, 0, SEEK_SET) != 0) fail({.where = name, .what = std::strerror(errno)});
  const auto open = [&] {
    const int own = system::duplicate(file);
    if (own < 0) fail({.where = name, .what = std::strerror(errno)});
    return open_sound_file(own, name);
  };
  return open_recording(file, name, ffmpeg, open);
}

std::unique_ptr<sample_source> open_audio(const std::string& path, const audio_options& o) {
  if (path == "-") return open_sound_stream(byte_stream(STDIN_FILENO, "standard input"), o.pcm, o.ffmpeg);
  std::error_code failed;
  const fs::file_status status = fs::status(utf8_path(path), failed);
  using fs::file_type;
  if (const auto kind = status.type();
      kind == file_type::fifo || kind == file_type::socket || kind == file_type::character)
    return open_sound_stream(byte_stream::open(path), std::nullopt, o.ffmpeg);
  check_path(path, status, failed);
  const open_file file(path);
  return open_recording(file.get(), path, o.ffmpeg, [&] { return open_sound_file(path); });
}

}  // namespace

class audio_reader::until_interrupted {
 public:
  until_interrupted(const std::string& path, const audio_options& o)
      : source_(open_audio(path, o), path == "-" ? "standard input" : path, o.channels, o.part) {}
  until_interrupted(int file, const std::string& name, const audio_options& o)
      : source_(open_descriptor(file, name, o.ffmpeg), name, o.channels, o.part) {}
  until_interrupted(std::unique_ptr<sample_source> samples, const std::string& name, const audio_options& o)
      : source_(std::move(samples), name, o.channels, o.part) {}
  std::size_t read(int voice, std::span<float> samples) {
    stopped_ = stopped_ || (input_is_over() && !source_.ends_itself());
    const std::size_t n = stopped_ ? 0 : source_.read(voice, samples);
    stopped_ = stopped_ || (n == 0 && input_is_over());
    return n;
  }
  const channel_reader& inner() const { return source_; }
  bool stopped() const { return stopped_; }

 private:
  channel_reader source_;
  bool stopped_ = false;
};

audio_reader::audio_reader(const std::string& path, int rate, const audio_options& o)
    : audio_reader(std::make_unique<until_interrupted>(path, o), rate) {}
audio_reader::audio_reader(int file, const std::string& name, int rate, const audio_options& o)
    : audio_reader(std::make_unique<until_interrupted>(file, name, o), rate) {}
audio_reader::audio_reader(std::unique_ptr<sample_source> samples, const std::string& name, int rate,
                           const audio_options& o)
    : audio_reader(std::make_unique<until_interrupted>(std::move(samples), name, o), rate) {}
audio_reader::audio_reader(std::unique_ptr<until_interrupted> source, int rate) : source_(std::move(source)) {
  for (int v = 0; v < voices(); ++v)
    resamplers_.emplace_back([from = source_.get(), v](std::span<float> samples) { return from->read(v, samples); },
                             source_rate(), rate);
}
audio_reader::~audio_reader() = default;
int audio_reader::voices() const { return source_->inner().voices(); }
int audio_reader::source_rate() const { return source_->inner().rate(); }
double audio_reader::seconds() const { return source_->inner().seconds(); }
bool audio_reader::stopped() const { return source_->stopped(); }
std::vector<std::string> audio_reader::warnings() const { return source_->inner().warnings(); }
bool audio_reader::damaged() const { return source_->inner().damaged(); }

std::vector<float> read_all(audio_reader& reader) {
  std::vector<float> samples, block(65536);
  while (const std::size_t n = reader.read(block))
    samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  return samples;
}

}  // namespace steno::app
