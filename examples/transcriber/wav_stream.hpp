// WAV from a stream: its samples come as they are written.
//
// Tested in tests/transcriber/audio_test.cpp; any bytes in tests/fuzz/recording_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "byte_source.hpp"
#include "sample_source.hpp"

namespace steno::app {

/// `head`: at least the first 12 bytes, as far as they were read.
bool begins_as_wav(const std::vector<std::uint8_t>& head);

/// Reads up to the first sample. Anything but plain PCM gives nothing, and then `bytes` is there still, and `head`
/// holds all that was read of it. A header that does not know the length is none of a cut file. Throws steno::error.
std::unique_ptr<sample_source> open_wav(std::unique_ptr<byte_source>& bytes, std::vector<std::uint8_t>& head);

}  // namespace steno::app
