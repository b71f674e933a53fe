// Sound from standard input, a fifo or another stream: raw PCM, or a container, which is recognised by how it begins.
//
// The samples of a WAV file come as they are spoken. Other containers (MP3, FLAC, OGG, AIFF, WAV with compressed
// samples) are kept in a temporary file without a name and decoded when they have ended.
#pragma once
#include <memory>

#include "byte_stream.hpp"
#include "raw_pcm.hpp"
#include "sample_source.hpp"

namespace steno::app {

/// `raw`: what has no header is PCM in that format; otherwise it is refused. Throws steno::error, also when the stream
/// is a terminal or begins like what libsndfile does not read (MP4, Matroska, WMA).
std::unique_ptr<sample_source> open_sound_stream(byte_stream stream, std::optional<pcm_format> raw);

}  // namespace steno::app
