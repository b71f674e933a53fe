// What a recording is, by how it begins or by its name: for messages, and to know what to open with what.
//
// Tested in tests/programs/steno_media_test.cpp; any bytes in tests/fuzz/recording_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace steno::app {

/// How many bytes of a file are looked at.
inline constexpr std::size_t media_head = 4096;  // holds two frames of any MPEG stream

/// "MP4 or M4A", "Matroska or WebM", ... for what libsndfile does not read and ffmpeg does; empty for anything else.
std::string_view media_kind(std::span<const std::uint8_t> head);
/// Whether it begins as what libsndfile reads: then it is asked first.
bool begins_as_sound(std::span<const std::uint8_t> head);

/// By the ending of its name, in small letters or capitals: read by libsndfile, or by ffmpeg alone. Hidden files are
/// neither: some systems leave "._talk.wav" beside each file.
bool named_as_sound(const std::filesystem::path& file);
bool named_as_media(const std::filesystem::path& file);

}  // namespace steno::app
