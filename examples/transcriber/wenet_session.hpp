// WeNet's protocol: one stream of audio, from its start signal to speech_end (wenet_protocol.hpp has the messages).
//
// Tested in tests/transcriber/server_test.cpp, server_faults_test.cpp and tests/programs/steno_several_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "live_protocol.hpp"
#include "server_hall.hpp"

namespace steno::app {

/// With the usual model, unless the start message names another one. Throws std::bad_alloc.
std::unique_ptr<live_protocol> start_wenet_session(server_hall& hall, live_host& host);

}  // namespace steno::app
