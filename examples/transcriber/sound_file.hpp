// Any file that libsndfile opens (wav, flac, mp3, ogg vorbis, opus, aiff, ...).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <memory>
#include <string>
#include <utility>

#include "sample_source.hpp"

namespace steno::app {

/// What libsndfile cannot open.
class unreadable_sound : public error {
 public:
  unreadable_sound(core::fault parts, bool unknown) : error(std::move(parts)), unknown_(unknown) {}
  /// Not one of its formats at all; else it is one, and damaged, or of a kind that it does not decode.
  bool unknown() const { return unknown_; }

 private:
  bool unknown_;
};

/// Throws unreadable_sound when it is not audio for libsndfile, steno::error for other reasons. A truncated or damaged
/// file gives what can be read, and a warning.
std::unique_ptr<sample_source> open_sound_file(const std::string& path);
/// The same of an open file, which is owned from now on; `name` is for messages.
std::unique_ptr<sample_source> open_sound_file(int fd, const std::string& name);

}  // namespace steno::app
