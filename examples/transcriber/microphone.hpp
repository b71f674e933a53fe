// Microphones, by ALSA's library: cards, and what PipeWire, PulseAudio and asoundrc(5) offer under a name.
//
// Why this library and none above it: see docs/program.md. A build without it (STENO_MICROPHONE=OFF) has
// no_microphone.cpp instead. Tested in tests/programs/steno_microphone_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "live_source.hpp"

namespace steno::app {

/// A device that can be listened to.
struct microphone {
  std::string name;   ///< what --microphone takes
  std::string about;  ///< "Built-in Audio, ALC257 Analog"; may be empty
};

/// The usual one first. Throws steno::error where there is none, with what to do.
std::vector<microphone> microphones();

/// A name of microphones(), a part of one or of what is said about it that no other has, or a name of ALSA's; empty:
/// the usual one. `channels` are asked for; it may have more or fewer. Throws stop where several may be meant, and
/// steno::error.
std::unique_ptr<capture_device> open_microphone(const std::string& name, int channels);

}  // namespace steno::app
