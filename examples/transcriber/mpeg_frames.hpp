// The frames of an MPEG audio stream (MP3), as far as it takes to see whether the file is whole.
//
// An MP3 file does not say how long it is. Its frames do: each header gives its frame's length, and encoders put a
// first frame in front that counts the others ("Xing", "Info"). Tested in tests/transcriber/audio_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace steno::app {

struct mpeg_frame {
  std::uint32_t bytes = 0;      ///< header included
  std::uint32_t side_info = 0;  ///< bytes between the header and the frame's data
};
/// Nothing when four bytes are no header of a frame whose length is known.
std::optional<mpeg_frame> read_mpeg_header(std::span<const std::uint8_t> four);

/// Whether two frames stand at the beginning of `bytes`: PCM may look like one header.
bool begins_as_mpeg(std::span<const std::uint8_t> bytes);

/// What is missing at the end of a file of `size` bytes; nothing when it is whole, or when it cannot be told (a file
/// without a count of its frames that was cut between two). read(at, to) fills `to` with the bytes from `at` on, and is
/// false when they cannot be read.
using byte_reader = std::function<bool(std::uint64_t at, std::span<std::uint8_t> to)>;
std::optional<std::string> missing_of_mpeg(std::uint64_t size, const byte_reader& read);

}  // namespace steno::app
