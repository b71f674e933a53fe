// Any file that libsndfile opens (wav, flac, mp3, ogg vorbis, opus, aiff, ...) as one channel of float.
#pragma once
#include <memory>
#include <string>

#include "sample_source.hpp"

namespace steno::app {

/// Channels are averaged. Throws steno::error when the file is missing, a directory, empty or not audio.
/// A truncated or damaged file gives what can be read, and a warning.
std::unique_ptr<sample_source> open_sound_file(const std::string& path);
/// The same of an open file, which is owned from now on; `name` is for messages.
std::unique_ptr<sample_source> open_sound_file(int fd, const std::string& name);

}  // namespace steno::app
