// Recordings that libsndfile does not read, decoded by an installed ffmpeg: its float samples come through a pipe, at
// the rate and with the channels of the recording.
//
// It never gets a file's name: what it reads is its standard input, a file that was opened here or the bytes of a
// stream. What it may open and of which formats is given to it (docs/security.md). Tested in
// tests/programs/steno_media_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "child_process.hpp"
#include "sample_source.hpp"

namespace steno::app {

/// "ffmpeg": the one that is installed; a path: that program; "none": there is to be none.
bool has_ffmpeg(const std::string& name);
/// What is missing, and what to do about it, for a recording of that kind ("MP4 or M4A"; empty: of an unknown one).
core::fault ffmpeg_is_missing(const std::string& where, std::string_view kind, const std::string& name);

/// `where` is the recording's name for messages. A recording that breaks off gives what can be read, and a warning.
/// Throws steno::error when there is no sound in it that ffmpeg can decode.
std::unique_ptr<sample_source> open_with_ffmpeg(const std::string& name, child_process::input from,
                                                const std::string& where);

}  // namespace steno::app
