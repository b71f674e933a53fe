// SPDX-License-Identifier: Apache-2.0
#include "sound_stream.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "ffmpeg.hpp"
#include "media_kinds.hpp"
#include "system.hpp"
#include "wav_stream.hpp"

namespace steno::app {
namespace {

using byte_vector = std::vector<std::uint8_t>;

// A file without a name that holds the whole stream.
std::unique_ptr<sample_source> decode_all(byte_source& stream, byte_vector begun, const std::string& ffmpeg) {
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, close> file(system::temporary_file());
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
  try {
    return open_sound_file(::dup(::fileno(file.get())), stream.name());
  } catch (const unreadable_sound& e) {
    return open_instead(e, ::fileno(file.get()), stream.name(), ffmpeg);
  }
}

}  // namespace

std::unique_ptr<sample_source> open_instead(const unreadable_sound& e, int file, const std::string& name,
                                            const std::string& ffmpeg) {
  if (!has_ffmpeg(ffmpeg)) {
    if (!e.unknown()) throw e;
    fail(ffmpeg_is_missing(name, "", ffmpeg));
  }
  try {
    return open_with_ffmpeg(ffmpeg, {.file = file}, name);
  } catch (const error&) {
    if (!e.unknown()) throw e;
  }
  fail({.where = name,
        .what = "cannot read it as audio: Format not recognised",
        .hint = "neither libsndfile nor ffmpeg knows it"});
}

std::unique_ptr<sample_source> open_sound_stream(byte_stream stream, std::optional<pcm_format> raw,
                                                 const std::string& ffmpeg) {
  if (system::is_terminal(stream.descriptor()))
    fail({.where = stream.name(),
          .what = "is a terminal, and AUDIO \"-\" reads sound",
          .hint = "pipe audio into the program"});
  byte_vector head;
  stream.fill(head, 12);
  // Only what may be MPEG is waited for until two frames are there.
  const auto maybe = [&](unsigned first, unsigned mask) {
    return head.size() >= 2 && head[0] == first && (head[1] & mask) == mask;
  };
  if (maybe(0xff, 0xe0) || maybe(0x47, 0)) stream.fill(head, media_head);
  if (const std::string_view kind = media_kind(head); !kind.empty()) {
    if (!has_ffmpeg(ffmpeg)) fail(ffmpeg_is_missing(stream.name(), kind, ffmpeg));
    const std::string name = stream.name();
    if (stream.whole_file()) return open_with_ffmpeg(ffmpeg, {.file = stream.descriptor()}, name);
    return open_with_ffmpeg(ffmpeg, {.begun = std::move(head), .rest = std::move(stream)}, name);
  }
  std::unique_ptr<byte_source> bytes = std::make_unique<byte_stream>(std::move(stream));
  if (begins_as_wav(head)) {
    if (auto wav = open_wav(bytes, head)) return wav;
    return decode_all(*bytes, std::move(head), ffmpeg);
  }
  if (begins_as_sound(head)) return decode_all(*bytes, std::move(head), ffmpeg);
  if (!raw)
    fail({.where = bytes->name(),
          .what = "cannot read it as audio: Format not recognised",
          .hint = "raw PCM is read from standard input: steno - <" + bytes->name()});
  return open_pcm(std::move(bytes), std::move(head), *raw);
}

}  // namespace steno::app
