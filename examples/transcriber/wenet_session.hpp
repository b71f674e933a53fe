// WeNet's protocol: one stream of audio, from its start signal to speech_end (wenet_protocol.hpp has the messages).
//
// Tested in tests/transcriber/server_test.cpp and server_faults_test.cpp.
#pragma once
#include <memory>

#include "live_protocol.hpp"
#include "server_hall.hpp"

namespace steno::app {

/// Throws std::bad_alloc.
std::unique_ptr<live_protocol> start_wenet_session(const server_hall& hall);

}  // namespace steno::app
