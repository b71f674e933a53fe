// Sound from standard input, a fifo or another stream: raw PCM, or a container, which is recognised by how it begins.
//
// The samples of a WAV file come as they are spoken. What only ffmpeg reads (MP4, WebM, AAC, ...) goes through it as it
// comes. Other containers (MP3, FLAC, OGG, AIFF, WAV with compressed samples) are kept in a temporary file without a
// name and decoded when they have ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "byte_stream.hpp"
#include "raw_pcm.hpp"
#include "sample_source.hpp"
#include "sound_file.hpp"

namespace steno::app {

/// `raw`: what has no header is PCM in that format; otherwise it is refused. `ffmpeg` as in ffmpeg.hpp. Throws
/// steno::error, also when the stream is a terminal or begins as what cannot be read.
std::unique_ptr<sample_source> open_sound_stream(byte_stream stream, std::optional<pcm_format> raw,
                                                 const std::string& ffmpeg = "none");

/// What libsndfile refused with `e`, by ffmpeg: an open file, which stays the caller's. Throws steno::error: what
/// libsndfile said where it knows the format.
std::unique_ptr<sample_source> open_instead(const unreadable_sound& e, int file, const std::string& name,
                                            const std::string& ffmpeg);

}  // namespace steno::app
