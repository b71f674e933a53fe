// One client of the server, from its request to the end of its connection.
//
// Tested through tests/transcriber/server_test.cpp and server_faults_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "client_socket.hpp"
#include "server_hall.hpp"

namespace steno::app {

/// Takes a client in, or tells it why not. Its handlers run on the socket's thread; `share` is held until the
/// connection has ended. Throws std::bad_alloc.
void begin_connection(client_socket socket, std::shared_ptr<const char> share, server_hall& hall);

}  // namespace steno::app
