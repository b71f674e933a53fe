// Of a build without ALSA's library.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include "microphone.hpp"

namespace steno::app {
namespace {

[[noreturn]] void not_there() {
  fail({.what = "this build listens to no microphone", .hint = "it was configured with STENO_MICROPHONE=OFF"});
}

}  // namespace

std::vector<microphone> microphones() { not_there(); }
std::unique_ptr<capture_device> open_microphone(const std::string&, int) { not_there(); }

}  // namespace steno::app
